"""What SALib finds in the runs of a study: salib.py STUDY_FOLDER TARGET_FOLDER

SALib has Saltelli's first-order and Jansen's total index (analyze.sobol), Jansen's total normalised by the
variance of A alone (analyze.sobol_jansen) and Morris' effects. It has neither Jansen's first-order index nor
Martinez' indices: those are computed here from their formulas with NumPy, and marked so.
"""
import csv, json, sys
from importlib.metadata import version
import numpy as np
from SALib.analyze import morris, sobol, sobol_jansen

study, target = sys.argv[1:]
rows = [r for r in csv.reader(open(f"{study}/samples.csv")) if not r[0].startswith("#")]
header, rows = rows[0], rows[1:]
result = json.load(open(f"{study}/sensitivity.json"))
names = [f["name"] for f in result["factors"]]
k = len(names)
OUTPUTS = [0, 1, 2]


def of(method):
    return [r for r in rows if r[0] == method]


def values(method):
    return np.array([[float(v) for v in r[4 : 4 + k]] for r in of(method)])


def output(method, i):
    return np.array([float(r[4 + k + i]) for r in of(method)])


problem = {"num_vars": k, "names": names, "bounds": [[0.0, 1.0]] * k}
found = {
    "made_by": f"tests/data/salib/make.sh with SALib {version('SALib')}, NumPy {np.__version__}",
    "data": "synthetic",
    "outputs": [],
}
for i in OUTPUTS:
    y = output("sobol", i)
    n = len(y) // (k + 2)
    a, b = y[:: k + 2], y[k + 1 :: k + 2]
    ab = np.array([y[j + 1 :: k + 2] for j in range(k)])
    s = sobol.analyze(problem, y, calc_second_order=False, seed=1)
    # Radial rows: A, then A with each column of B.
    radial = np.concatenate([np.r_[a[m], ab[:, m]] for m in range(n)])
    r = sobol_jansen.analyze(problem, radial, n, seed=1)
    variance = np.var(np.r_[a, b])
    e = morris.analyze(problem, values("morris"), output("morris", i), num_levels=4, seed=1)
    found["outputs"].append(
        {
            "name": result["outputs"][i]["name"],
            "sobol": {
                "salib_first_saltelli": s["S1"].tolist(),
                "salib_total_jansen": s["ST"].tolist(),
                "salib_radial_total_jansen": np.asarray(r["ST"]).tolist(),
                "numpy_first_jansen": [1 - np.mean((b - c) ** 2) / (2 * variance) for c in ab],
                "numpy_first_martinez": [np.corrcoef(b, c)[0, 1] for c in ab],
                "numpy_total_martinez": [1 - np.corrcoef(a, c)[0, 1] for c in ab],
            },
            "morris": {
                "salib_mu": np.asarray(e["mu"]).tolist(),
                "salib_mu_star": np.asarray(e["mu_star"]).tolist(),
                "salib_sigma": np.asarray(e["sigma"]).tolist(),
            },
        }
    )
json.dump(found, open(f"{target}/salib.json", "w"), indent=1)
with open(f"{target}/crease.csv", "w") as file:
    file.write("# synthetic: runs of the crease test, made by tests/data/salib/make.sh\n")
    writer = csv.writer(file, lineterminator="\n")
    keep = lambda r: r[:1] + r[4 : 4 + k] + [r[4 + k + i] for i in OUTPUTS]
    writer.writerow(keep(header))
    writer.writerows(keep(r) for r in of("morris") + of("sobol"))
