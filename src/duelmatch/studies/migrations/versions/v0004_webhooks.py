"""Webhooks: whom to tell what a study decides, and what they were told."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "webhooks",
        sa.Column("study", sa.String(40), sa.ForeignKey("studies.id"), primary_key=True),
        sa.Column("url", sa.String(2000), nullable=False),
        sa.Column("secret", sa.String(100), nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("told", sa.Text, nullable=False),
        sa.Column("not_before", sa.Double, nullable=False),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("failure", sa.Text),
    )
