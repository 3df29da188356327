"""A client that sends a request and may leave before the answer."""

import socket
from urllib.parse import urlsplit

import psutil


def sent(url: str, path: str) -> socket.socket:
    """A connection on which a GET of `path` was sent."""
    parts = urlsplit(url)
    connection = socket.create_connection((parts.hostname or "", parts.port or 0), 60)
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: lab\r\n\r\n".encode())
    return connection


def connected(pid: int, port: int) -> bool:
    """Returns whether the process still has a connection whose other end has that port."""
    return any(one.raddr and one.raddr.port == port for one in psutil.Process(pid).net_connections("tcp"))
