"""Settings for the lessons in CHANGELOG.md and for the tips of the talk about v01 to v07.

A deployment needs none of these settings.
"""

from pydantic import BaseModel, Field


class ExperimentSettings(BaseModel):
    threadpool_tokens: int | None = Field(
        None,
        ge=1,
        le=1000,
        description="Maximum threads for blocking work (v01 to v07). Not set: TOKENS of the release. Lessons v04 and"
        " v07.",
    )
    sqs_max_connections: int | None = Field(
        None,
        ge=1,
        le=1024,
        description="Maximum connections in the pool of the SQS client (v02 to v09). Not set: CONNECTIONS of the"
        " release. Later releases open a connection for each call in flight. Lessons v06 and v08.",
    )
