from local.cli import main

main()
