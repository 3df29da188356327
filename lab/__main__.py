from app.starting import importing

with importing():
    from lab.cli import main

main()
