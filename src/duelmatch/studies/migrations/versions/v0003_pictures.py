"""Pictures of candidates, as they were uploaded and made small."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "pictures",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("study", sa.String(40), primary_key=True),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
