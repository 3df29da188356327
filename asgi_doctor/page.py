"""Serves a web page with the findings so far, in a thread of this process, on a free port of 127.0.0.1."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from asgi_doctor.finding import Finding
from asgi_doctor.outputs import fields
from asgi_doctor.report import calls, times

_HTML = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>asgi-doctor: TARGET</title>
<style>
:root { color-scheme: light dark; --red: light-dark(#a22, #f99); --green: light-dark(#161, #8d8) }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
article { border-left: 4px solid var(--red); padding: .2rem 1rem; margin: 1rem 0; background: #8881 }
h1, h2, p, code, pre { overflow-wrap: anywhere } h1 { font-size: 1.5rem } h2 { font-size: 1.1rem }
code, pre { font: 14px/1.4 ui-monospace, monospace } pre { white-space: pre-wrap }
.before { color: var(--red) } .after { color: var(--green) }
</style>
<h1>What blocks the event loop of <code>TARGET</code></h1>
<p id="state">Nothing so far. Send requests to the application: the doctor sees only code that runs.</p>
<main></main>
<script>
const add = (parent, name, text, kind) => {
  const element = parent.appendChild(document.createElement(name))
  element.textContent = text
  if (kind) element.className = kind
  return element
}
const show = found => {
  const article = document.createElement("article")
  add(article, "h2", `${found.kind} · ${found.route || "no request"}`)
  add(article, "code", `${found.file}:${found.line} in ${found.function}`)
  add(article, "pre", found.source)
  add(article, "small", found.times)
  if (found.calls) add(article, "pre", found.calls)
  const cure = add(article, "p", "Cure: ")
  found.cure.split("`").forEach((text, index) => add(cure, index % 2 ? "code" : "span", text))
  for (const kind of ["before", "after"])
    if (found[kind]) add(article, "pre", found[kind].replace(/^/gm, kind === "before" ? "- " : "+ "), kind)
  return article
}
const ask = async () => {
  try {
    const {findings} = await (await fetch("findings")).json()
    if (findings.length) document.getElementById("state").textContent = `${findings.length} found, the worst first`
    document.querySelector("main").replaceChildren(...findings.map(show))
  } catch {
    document.getElementById("state").textContent = "The doctor has stopped, or does not answer."
  }
  setTimeout(ask, 1000)
}
ask()
</script>
"""


@contextmanager
def page(target: str, findings: Callable[[], list[Finding]]) -> Iterator[str]:
    """Serves the page until the `with` block ends. Yields the page's address. `target`: the application's name."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/":
                self._answer("text/html; charset=utf-8", _HTML.replace("TARGET", _escaped(target)))
            elif self.path == "/findings":
                self._answer("application/json", json.dumps({"findings": [_shown(one) for one in findings()]}))
            else:
                self.send_error(404)

        def _answer(self, media_type: str, text: str) -> None:
            body = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, name="asgi-doctor's page", daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def _shown(finding: Finding) -> dict[str, Any]:
    return fields(finding) | {
        "source": finding.source,
        "before": finding.replaced,
        "after": finding.cure.example,
        "times": times(finding),
        "calls": "\n".join(map(str.strip, calls(finding))),
    }


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
