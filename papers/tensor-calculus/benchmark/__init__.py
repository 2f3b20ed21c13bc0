"""Times, memory and values of derivatives: this library, hand-written NumPy, and other systems, each in a process.

The files stand in the order of the work:

case.py       what is computed: data, a function written once for all systems, and what is asked of it
cases/        the cases, by topic, each with its hand-written NumPy version
systems/      how each system is asked
stages.py     where the first call's time goes;  memory.py: the peak of a call
worker.py     the process of one system: reads commands, answers with figures
process.py    its other end;  measuring.py: rounds interleaved over the systems
records.py    what was measured, as data and as JSON
tables.py, targets.py, growth.py, ablation.py, plots.py   what is shown of it
"""
