"""A handler sends an invitation with smtplib, and the mail server is slow to greet.

After lnbits/lnbits#3988 (blocking SMTP calls on the event loop).
"""

import smtplib
import socketserver
import threading
import time
from email.message import EmailMessage

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

CASE = {
    "framework": "starlette",
    "kind": "waits",
    "route": "POST /invitations",
    "cures": ["async client", "thread"],
    "send": [("POST", "/invitations", 3, 1, "ada@example.com")],
    "source": "https://github.com/lnbits/lnbits/pull/3988",
}


class SlowMailServer(socketserver.StreamRequestHandler):
    """Accepts every mail, but greets after 0.4 s, as servers do to deter spam."""

    def handle(self) -> None:
        time.sleep(0.4)
        self.wfile.write(b"220 mail.example.com\r\n")
        in_body = False
        for line in self.rfile:
            if in_body:
                in_body = line != b".\r\n"
            elif line.upper().startswith(b"DATA"):
                in_body = True
                self.wfile.write(b"354 go ahead\r\n")
                continue
            elif line.upper().startswith(b"QUIT"):
                self.wfile.write(b"221 bye\r\n")
                return
            if not in_body:
                self.wfile.write(b"250 ok\r\n")


mail_server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), SlowMailServer)
mail_server.daemon_threads = True
threading.Thread(target=mail_server.serve_forever, daemon=True).start()


class Mailer:
    def __init__(self, port: int) -> None:
        self.port = port

    def send(self, recipient: str) -> None:
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = "shop@example.com", recipient, "Welcome"
        message.set_content("Please confirm your address.")
        with smtplib.SMTP("127.0.0.1", self.port, local_hostname="localhost") as connection:  # FAULT
            connection.send_message(message)


mailer = Mailer(mail_server.server_address[1])


async def invite(request: Request) -> JSONResponse:
    mailer.send(await request.json())
    return JSONResponse({"sent": True}, 202)


app = Starlette(routes=[Route("/invitations", invite, methods=["POST"])])
