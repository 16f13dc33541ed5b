"""Checks a FOCUS file (Cost and Usage, 1.4 or 1.2) by the rules of the specification's columns.

usage: focus.py VERSION FILE      (a module for the tests, a program for anybody)

Written from the text of the specification: which columns must be there, which may be null, what values and formats
they take, and what must hold between them.
"""

import csv
import decimal
import io
import json
import re
import sys

D = decimal.Decimal
MANDATORY = {
    "BilledCost", "BillingAccountId", "BillingAccountName", "BillingCurrency", "BillingPeriodEnd", "BillingPeriodStart",
    "ChargeCategory", "ChargeClass", "ChargeDescription", "ChargePeriodEnd", "ChargePeriodStart", "ContractedCost",
    "EffectiveCost", "InvoiceIssuerName", "ListCost", "PricingQuantity", "PricingUnit", "ServiceCategory", "ServiceName",
}  # fmt: skip
OF_VERSION = {
    "1.4": {"HostProviderName", "ServiceProviderName"},
    "1.2": {"ProviderName", "PublisherName"},
}
GONE = {"1.4": {"ProviderName", "PublisherName"}, "1.2": {"HostProviderName", "ServiceProviderName"}}
# Conditional and recommended columns that a file may have.
OPTIONAL = {
    "BillingAccountType", "ChargeFrequency", "ConsumedQuantity", "ConsumedUnit", "ContractedUnitPrice", "InvoiceId",
    "ListUnitPrice", "PricingCategory", "PricingCurrency", "RegionId", "RegionName", "ResourceId", "ResourceName",
    "ResourceType", "ServiceSubcategory", "SkuId", "SkuMeter", "SkuPriceDetails", "SkuPriceId", "SubAccountId",
    "SubAccountName", "SubAccountType", "Tags", "AvailabilityZone",
}  # fmt: skip
MAY_BE_NULL = OPTIONAL | {"BillingAccountName", "ChargeClass", "ChargeDescription", "PricingQuantity", "PricingUnit"}
NUMBERS = {
    "BilledCost", "ContractedCost", "EffectiveCost", "ListCost", "PricingQuantity", "ConsumedQuantity", "ListUnitPrice",
    "ContractedUnitPrice",
}  # fmt: skip
VALUES = {
    "ChargeCategory": {"Usage", "Purchase", "Tax", "Credit", "Adjustment"},
    "ChargeClass": {"", "Correction"},
    "ChargeFrequency": {"One-Time", "Recurring", "Usage-Based"},
    "PricingCategory": {"", "Standard", "Dynamic", "Committed", "Other"},
    "ServiceCategory": {
        "AI and Machine Learning", "Analytics", "Business Applications", "Compute", "Databases", "Developer Tools",
        "Multicloud", "Identity", "Integration", "Internet of Things", "Management and Governance", "Media",
        "Migration", "Mobile", "Networking", "Security", "Storage", "Web", "Other",
    },
}  # fmt: skip
TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z\Z")
NUMBER = re.compile(r"-?\d+(\.\d+)?\Z")
CURRENCY = re.compile(r"[A-Z]{3}\Z")
UNIT = re.compile(r"[A-Z][A-Za-z]*(-(Seconds|Minutes|Hours|Days|Months|Years))?\Z")
OURS = re.compile(r"x_[A-Za-z0-9]+\Z")


def header_faults(version, names):
    faults = []
    known = MANDATORY | OF_VERSION[version] | OPTIONAL
    faults += [f"the column {name} is missing" for name in sorted((MANDATORY | OF_VERSION[version]) - set(names))]
    faults += [f"the column {name} is not of this version" for name in sorted(GONE[version] & set(names))]
    faults += [f"the column {name} is twice there" for name in sorted({n for n in names if names.count(n) > 1})]
    own = [name for name in names if name not in known]
    faults += [f"the column {name} needs the prefix x_" for name in own if not OURS.match(name)]
    first_own = min((names.index(name) for name in own), default=len(names))
    faults += [f"the column {name} stands behind one of ours" for name in names[first_own:] if name in known]
    return faults


def value_faults(row):
    for name, value in row.items():
        if name.startswith("x_"):
            continue
        if value == "" and name not in MAY_BE_NULL:
            yield f"{name} is null"
        if name in NUMBERS and value != "" and not NUMBER.match(value):
            yield f"{name} is no number: {value}"
        if name in VALUES and value not in VALUES[name]:
            yield f"{name} may not be {value!r}"
        if name.endswith(("PeriodStart", "PeriodEnd")) and not TIME.match(value):
            yield f"{name} is no time in UTC: {value}"
        if name.endswith("Unit") and value != "" and not UNIT.match(value):
            yield f"{name} is no unit: {value}"
    if not CURRENCY.match(row["BillingCurrency"]):
        yield "BillingCurrency is no code of ISO 4217"


def pair_faults(row):
    """What must hold between the columns of a row."""
    for period in ("Billing", "Charge"):
        if row[period + "PeriodStart"] >= row[period + "PeriodEnd"]:
            yield f"the {period} period is empty"
    if row["ChargeClass"] == "" and row["ChargePeriodStart"] < row["BillingPeriodStart"]:
        yield "a charge of an earlier period is no Correction"
    if row["ChargeClass"] == "Correction" and row["ChargePeriodStart"] >= row["BillingPeriodStart"]:
        yield "a Correction of the period itself"
    usage = row["ChargeCategory"] == "Usage" and row["ChargeClass"] == ""
    for name in ("PricingQuantity", "PricingUnit", "ConsumedQuantity", "ConsumedUnit", "PricingCategory"):
        if usage and row.get(name, "x") == "":
            yield f"{name} of a usage is null"
    for quantity, unit in (("PricingQuantity", "PricingUnit"), ("ConsumedQuantity", "ConsumedUnit")):
        if (row.get(quantity, "") == "") != (row.get(unit, "") == ""):
            yield f"{quantity} and {unit} are not both there"
    for one, other in (("ResourceId", "ResourceType"), ("ResourceName", "ResourceId"), ("SubAccountId", "SubAccountType"),
                       ("SkuPriceId", "SkuId"), ("SkuMeter", "SkuId"), ("ListUnitPrice", "SkuPriceId"),
                       ("ContractedUnitPrice", "SkuPriceId")):  # fmt: skip
        if row.get(one, "") != "" and row.get(other, "") == "":
            yield f"{one} without {other}"
    if row.get("Tags", "") != "":
        tags = json.loads(row["Tags"])
        if not all(isinstance(value, (str, int, bool)) or value is None for value in tags.values()):
            yield "Tags hold more than keys and values"


def price_faults(row):
    """A price times a quantity is the cost, but for one rounding of each stored row that it is made of."""
    price, quantity = row.get("ListUnitPrice", ""), row["PricingQuantity"]
    if price == "" or quantity == "" or row["ChargeClass"] == "Correction":
        return
    rows = 4 * (abs(int(row.get("x_Runs", "1") or 1)) + 40)
    if abs(D(price) * D(quantity) - D(row["ListCost"])) > D("0.000001") * rows:
        yield f"{price} x {quantity} is not {row['ListCost']}"


def faults_of(version, text):
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    names = rows[0]
    faults = header_faults(version, names)
    if faults:
        return faults
    for number, values in enumerate(rows[1:], 2):
        if len(values) != len(names):
            faults.append(f"line {number}: {len(values)} values")
            continue
        row = dict(zip(names, values))
        faults += [f"line {number}: {fault}" for check in (value_faults, pair_faults, price_faults) for fault in check(row)]
    return faults


if __name__ == "__main__":
    with open(sys.argv[2], encoding="utf-8", newline="") as file:
        found = faults_of(sys.argv[1], file.read())
    print("\n".join(found))
    sys.exit(1 if found else 0)
