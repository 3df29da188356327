"""Draws rectangles and texts in SVG pictures. Their CSS classes define the colours."""

from xml.etree.ElementTree import Element, SubElement, tostring


def document(width: int, title: str, style: str) -> Element:
    """Returns an SVG document whose background has the class `paper`. `finished` sets the height."""
    svg = Element("svg", xmlns="http://www.w3.org/2000/svg", width=str(width))
    SubElement(svg, "title").text = title
    SubElement(svg, "style").text = style
    SubElement(svg, "rect", {"class": "paper", "width": "100%", "height": "100%"})
    return svg


def rect(svg: Element, kind: str, box: tuple[float, float, float, float], tip: str = "") -> None:
    """Adds a rectangle of the class `kind`. `box` is x, y, width and height; `tip` is the tooltip."""
    place = {name: f"{value:.1f}" for name, value in zip(("x", "y", "width", "height"), box, strict=True)}
    added = SubElement(svg, "rect", {"class": kind} | place)
    if tip:
        SubElement(added, "title").text = tip


def text(svg: Element, at: tuple[float, float], words: str, kind: str = "", anchor: str = "start") -> None:
    """Adds a line of text. `at`: x and y of the text's left end, middle or right end, depending on `anchor`."""
    place = {"x": f"{at[0]:.1f}", "y": f"{at[1]:.1f}", "text-anchor": anchor}
    SubElement(svg, "text", place | ({"class": kind} if kind else {})).text = words


def finished(svg: Element, height: float) -> str:
    """Sets the document's height, and returns the document as text."""
    svg.set("height", f"{height:g}")
    svg.set("viewBox", f"0 0 {svg.get('width')} {height:g}")
    return tostring(svg, encoding="unicode") + "\n"
