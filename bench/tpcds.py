"""TPC-DS data, made once for each scale: the tables that the views along foreign keys read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bench.schema import ForeignKey, Schema, make_files

KEYS = {
    "store_returns": "sr_item_sk, sr_ticket_number",
    "store_sales": "ss_item_sk, ss_ticket_number",
    "web_sales": "ws_item_sk, ws_order_number",
    "catalog_sales": "cs_item_sk, cs_order_number",
    "customer": "c_customer_sk",
    "customer_address": "ca_address_sk",
    "item": "i_item_sk",
    "date_dim": "d_date_sk",
    "store": "s_store_sk",
}

FOREIGN_KEYS = (
    ForeignKey("store_returns", ("sr_item_sk", "sr_ticket_number"), "store_sales"),
    ForeignKey("store_returns", ("sr_returned_date_sk",), "date_dim"),
    ForeignKey("store_sales", ("ss_addr_sk",), "customer_address"),
    ForeignKey("store_sales", ("ss_item_sk",), "item"),
    ForeignKey("store_sales", ("ss_sold_date_sk",), "date_dim"),
    ForeignKey("store_sales", ("ss_store_sk",), "store"),
    ForeignKey("web_sales", ("ws_bill_customer_sk",), "customer"),
    ForeignKey("web_sales", ("ws_ship_customer_sk",), "customer"),
    ForeignKey("web_sales", ("ws_bill_addr_sk",), "customer_address"),
    ForeignKey("web_sales", ("ws_ship_addr_sk",), "customer_address"),
    ForeignKey("web_sales", ("ws_item_sk",), "item"),
    ForeignKey("web_sales", ("ws_sold_date_sk",), "date_dim"),
    ForeignKey("web_sales", ("ws_ship_date_sk",), "date_dim"),
    ForeignKey("catalog_sales", ("cs_bill_addr_sk",), "customer_address"),
    ForeignKey("catalog_sales", ("cs_ship_addr_sk",), "customer_address"),
    ForeignKey("catalog_sales", ("cs_item_sk",), "item"),
    ForeignKey("catalog_sales", ("cs_sold_date_sk",), "date_dim"),
    ForeignKey("catalog_sales", ("cs_ship_date_sk",), "date_dim"),
    ForeignKey("customer", ("c_current_addr_sk",), "customer_address"),
)


def generate(scale: float, cache: Path, tables: Iterable[str]) -> Path:
    """A folder with a Parquet file for each table; what is there already is kept."""
    arguments = ("tpcds", "parquet", "--scale-factor", f"{scale:g}")
    return make_files(cache / f"tpcds-{scale:g}", tables, "tpcgen-cli", *arguments)


TPCDS = Schema("TPC-DS", KEYS, FOREIGN_KEYS, generate)
