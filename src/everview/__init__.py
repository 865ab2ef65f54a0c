"""Everview: incremental materialized views for Apache Spark and Delta Lake."""
