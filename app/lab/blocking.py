"""Question
Setup
Published
What to expect
"""

from fastapi import APIRouter

from app.lab.opening import nothing as opened

__all__ = ["opened", "router"]

router = APIRouter()
