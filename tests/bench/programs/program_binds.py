"""Binds MASTER_PORT like torch's store does, and exits."""
import os
import socket

store = socket.socket()
store.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
store.bind(("", int(os.environ["MASTER_PORT"])))
store.listen()
