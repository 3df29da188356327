from app.starting import importing

with importing():
    from local.cli import main

main()
