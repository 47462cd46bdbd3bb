"""Decimal numbers and what they are in smallest units, by Python's integers: `python3 .ci/decimals.py > payments/src/decimals.txt`."""
import random

random.seed(42)
print("# text decimals units (or what is wrong); by .ci/decimals.py")
for _ in range(600):
    decimals = random.choice([0, 1, 2, 6, 8, 18, 36, 77])
    whole = str(random.randrange(10 ** random.choice([1, 3, 20, 60, 78])))
    part = "".join(random.choice("0001234567890") for _ in range(random.randrange(0, decimals + 3)))
    text = whole + ("." + part if part else "")
    kept = part.rstrip("0")
    if len(kept) > decimals:
        print(text, decimals, "decimals")
        continue
    units = int(whole) * 10**decimals + int((kept or "0").ljust(decimals, "0") or 0) * (1 if decimals else 0)
    print(text, decimals, units if units < 2**256 else "large")
