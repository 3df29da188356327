"""A handler renders a very large sitemap with Jinja on the event loop.

After aio-libs/aiohttp-jinja2#156 (Support for running template rendering in thread pool).
"""

import jinja2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

CASE = {
    "framework": "starlette",
    "kind": "computes",
    "route": "GET /sitemap.xml",
    "cures": ["thread", "process", "less", "once"],
    "send": [("GET", "/sitemap.xml", 2, 2)],
    "source": "https://github.com/aio-libs/aiohttp-jinja2/issues/156",
}
SITEMAP = jinja2.Environment(autoescape=True).from_string(
    """<urlset>{% for page in pages %}
<url><loc>https://example.com/{{ page.section }}/{{ page.slug }}</loc>
{% if page.priority > 5 %}<priority>0.{{ page.priority }}</priority>{% endif %}</url>{% endfor %}
</urlset>"""
)
PAGES = [{"section": f"s{number % 40}", "slug": f"a&b-{number}", "priority": number % 10} for number in range(150_000)]


async def sitemap(request: Request) -> Response:
    return Response(SITEMAP.render(pages=PAGES), media_type="application/xml")  # FAULT


app = Starlette(routes=[Route("/sitemap.xml", sitemap)])
