# %% [markdown]
# # Regression, from a table to a decision
#
# A notebook in plain Python: editors that know the marks `# %%` run it cell by cell, `python regression.py` runs it whole.
# It needs `pip install quorate pandas`; the data are generated.

# %%
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from quorate import GPRegressor

random = np.random.default_rng(3)

# %% [markdown]
# ## The data
#
# Deliveries: how long they take depends on distance, load and depot, and on nothing we do not know but chance. A few
# loads were not recorded.

# %%
rows = 600
trips = pd.DataFrame(
    {
        "distance": random.gamma(3.0, 4.0, rows),
        "load": random.uniform(0, 1, rows),
        "depot": random.choice(["harbour", "airport", "station"], rows),
        "start": pd.Timestamp("2026-03-02") + pd.to_timedelta(random.uniform(0, 24 * 7, rows), unit="h"),
    }
)
hour = trips["start"].dt.hour + trips["start"].dt.minute / 60
rush = np.exp(-0.5 * ((hour - 8) / 1.2) ** 2) + np.exp(-0.5 * ((hour - 17) / 1.5) ** 2)
delay = trips["depot"].map({"harbour": 12.0, "airport": 5.0, "station": 8.0})
minutes = 2.2 * trips["distance"] + 15 * trips["load"] ** 2 + delay + 6 * rush + random.normal(0, 2.0, rows)
minutes.name = "minutes"
trips.loc[random.random(rows) < 0.05, "load"] = np.nan
trips["hour"] = hour
trips = trips.drop(columns="start")
known, new, known_minutes, new_minutes = train_test_split(trips, minutes, test_size=200, random_state=0)

# %% [markdown]
# ## A first model
#
# No choice has to be made: text is a category, missing loads are missing, the kernel is chosen by evidence.

# %%
model = GPRegressor(restarts=2).fit(known, known_minutes)
print(model.outcome_)
print(model.kernel_)

# %% [markdown]
# What matters? Relevance is the expected change of the target over one deviation of the input, in deviations of the target.

# %%
relevance = {column["name"]: round(column["relevance"], 2) for column in model.inspect()["inputs"]}
print(relevance)

# %% [markdown]
# ## Is it as sure as it should be?
#
# Nine of ten new trips should lie inside the interval of 90 %.

# %%
answer = model.predict_table(new, interval=0.9)
inside = ((new_minutes >= answer["lower"]) & (new_minutes <= answer["upper"])).mean()
error = np.sqrt(np.mean((new_minutes - answer["mean"]) ** 2))
print(f"root mean squared error {error:.2f} minutes; inside the interval {100 * inside:.0f} %")
assert 0.83 <= inside <= 0.96
assert error < 3.2

# %% [markdown]
# ## A decision
#
# What to promise, so that 19 of 20 promises are kept? A quantile, trip by trip, instead of a mean with a margin for all.

# %%
promise = model.predict_quantiles(new, [0.95])[:, 0]
kept = (new_minutes <= promise).mean()
print(f"promises kept: {100 * kept:.0f} %, on average {np.mean(promise - answer['mean']):.1f} minutes above the mean")

# %% [markdown]
# How probable is a trip of more than 45 minutes? The whole distribution is there.

# %%
late = model.predict_dist(new).sf(45.0)
print(f"expected number of trips over 45 minutes: {late.sum():.1f}, seen: {(new_minutes > 45).sum()}")
assert abs(late.sum() - (new_minutes > 45).sum()) < 4 * np.sqrt((late * (1 - late)).sum()) + 1

# %% [markdown]
# ## The same model elsewhere
#
# The file is the one of the command line: `quorate predict deliveries.quorate new.csv`.

# %%
model.save("deliveries.quorate")
again = GPRegressor.load("deliveries.quorate")
assert (again.predict(new) == model.predict(new)).all()
