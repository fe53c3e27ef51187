"""Every statement of the store, in the SQL that both databases know.

Each that begins a change is a write from its first word. A run that has ended stays as it ended.
"""

from typing import Final

BEGIN: Final = """
INSERT INTO run (id, kind, status, owner, zone, provider, level, writer, began, lost, waits)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0) ON CONFLICT (id) DO NOTHING
"""
STEP: Final = """
INSERT INTO run_step (run_id, seq, at, number, kind, round, position, duration_s, actor, tool,
distribution, version, status, effect, facts, content)
VALUES (?, (SELECT COALESCE(MAX(seq), 0) + 1 FROM run_step WHERE run_id = ?),
?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
STORED: Final = "SELECT 1 FROM run_step WHERE run_id = ? AND number = ? LIMIT 1"
LOCK: Final = "UPDATE run SET lost = lost WHERE id = ?"
OUTCOME: Final = """
UPDATE run_step SET duration_s = ?, status = ?, effect = ?, facts = ?, content = ?
WHERE run_id = ? AND number = ? AND status = 'intended'
"""
LOST: Final = "UPDATE run SET lost = lost + ? WHERE id = ?"
END: Final = """
UPDATE run SET status = ?, reason = ?, ended = ?, rounds = ?, input_tokens = ?,
output_tokens = ?, mark = ?, fault = ?, truncated = ?, content = ?, state = NULL
WHERE id = ? AND status NOT IN ('completed', 'failed', 'cancelled')
"""
# What somebody else has told of a durable run's end, who drives it fills in.
FILL_IN: Final = """
UPDATE run SET ended = ?, rounds = ?, input_tokens = ?, output_tokens = ?, mark = ?, fault = ?,
truncated = ?, content = ? WHERE id = ? AND status = ? AND writer = '' AND rounds IS NULL
"""
# A durable run has no writer of its own.
STANDS: Final = """
UPDATE run SET status = ?, reason = ?, ended = ?
WHERE id = ? AND writer = '' AND status NOT IN ('completed', 'failed', 'cancelled')
"""
SPOILT: Final = """
UPDATE run SET status = 'failed', reason = 'altered', ended = ?, state = NULL
WHERE id = ? AND status NOT IN ('completed', 'failed', 'cancelled')
"""

OWNER: Final = "SELECT owner, waits FROM run WHERE id = ?"
# A durable run waits elsewhere, and its state is there.
WAITING: Final = """
SELECT owner, waits FROM run
WHERE id = ? AND status = 'waiting_for_approval' AND writer <> ''
"""
STATE: Final = "SELECT state FROM run WHERE id = ?"
SUSPEND: Final = """
UPDATE run SET status = 'waiting_for_approval', state = ?, waited = ?, waits = waits + 1
WHERE id = ? AND status = 'running' AND waits = ?
"""
ALL_WAITING: Final = """
SELECT id FROM run WHERE status = 'waiting_for_approval' AND writer <> '' ORDER BY waited, id
"""
TAKE: Final = """
UPDATE run SET writer = ? WHERE id = ? AND status = 'waiting_for_approval' AND writer <> ''
"""
LEVEL: Final = "SELECT level FROM run WHERE id = ?"
CLAIM: Final = "UPDATE run SET status = 'running', level = ?, state = NULL WHERE id = ?"
HELD: Final = "UPDATE run SET status = 'held' WHERE id = ? AND status = 'running'"
FENCED: Final = """
UPDATE run SET status = 'held', reason = 'fenced' WHERE id = ? AND status = 'running'
"""
ALL_HELD: Final = """
SELECT id, owner, began, reason FROM run WHERE status = 'held' ORDER BY began, id
"""
ONE_HELD: Final = "SELECT id, owner, began, reason FROM run WHERE status = 'held' AND id = ?"
# What people say of a held call has no wait, and the call's number for its position.
HELD_CALLS: Final = """
SELECT s.round, s.position, s.tool, s.status, s.actor, s.content, s.number,
(SELECT writer FROM run WHERE id = s.run_id), d.verdict, d.decided_by, d.sealed
FROM run_step s LEFT JOIN run_decision d
ON d.run_id = s.run_id AND d.wait = 0 AND d.position = s.number
WHERE s.run_id = ? AND s.kind = 'tool' AND s.effect = 'unknown' ORDER BY s.seq
"""
LOCK_HELD: Final = "UPDATE run SET lost = lost WHERE id = ? AND status = 'held'"
HELD_NUMBERS: Final = """
SELECT s.number, (SELECT writer FROM run WHERE id = s.run_id), d.verdict, d.decided_by, d.sealed
FROM run_step s LEFT JOIN run_decision d
ON d.run_id = s.run_id AND d.wait = 0 AND d.position = s.number
WHERE s.run_id = ? AND s.kind = 'tool' AND s.effect = 'unknown' AND s.round = ? AND s.position = ?
"""
UNSAID: Final = "DELETE FROM run_decision WHERE run_id = ? AND wait = 0 AND position = ?"
SETTLED: Final = """
UPDATE run SET status = 'failed', reason = 'settled', ended = ?, state = NULL
WHERE id = ? AND status = 'held' AND COALESCE(reason, '') <> 'fenced'
"""
RELEASED: Final = """
UPDATE run SET status = 'running', reason = NULL,
writer = CASE writer WHEN '' THEN '' ELSE ? END WHERE id = ? AND status = 'held'
"""
DECIDE: Final = """
INSERT INTO run_decision (run_id, wait, position, at, verdict, decided_by, sealed)
VALUES (?, ?, ?, ?, ?, ?, ?)
"""
DECISIONS: Final = """
SELECT position, sealed FROM run_decision WHERE run_id = ? AND wait = ? ORDER BY position
"""
FORGET: Final = "DELETE FROM run_decision WHERE run_id = ? AND wait = ?"
ERASE_DECISIONS: Final = "UPDATE run_decision SET sealed = NULL WHERE run_id = ?"

WRITERS: Final = """
SELECT writer FROM run WHERE status = 'running' AND writer <> ''
UNION SELECT r.writer FROM run r JOIN run_step s ON s.run_id = r.id
WHERE s.status = 'intended' AND r.writer <> ''
"""
INTERRUPTED_WRITES: Final = """
UPDATE run SET status = 'held', reason = 'interrupted'
WHERE writer = ? AND status = 'running'
AND id IN (SELECT run_id FROM run_step WHERE status = 'intended')
"""
INTERRUPTED_STEPS: Final = """
UPDATE run_step SET status = 'interrupted' WHERE status = 'intended'
AND run_id IN (SELECT id FROM run WHERE writer = ?)
"""
INTERRUPTED: Final = """
UPDATE run SET status = 'failed', reason = 'interrupted', ended = ?
WHERE writer = ? AND status = 'running'
"""

# A session has no end of its own: it is over when nothing happened for as long. A durable run,
# which has no writer, ends elsewhere, however long it waits.
OLD: Final = """
SELECT id FROM run WHERE COALESCE(ended, began) < ? AND status <> 'running'
AND NOT (writer = '' AND ended IS NULL)
AND NOT EXISTS (SELECT 1 FROM run_step WHERE run_id = run.id AND at >= ?)
ORDER BY began LIMIT ?
"""
OLD_SESSIONS: Final = """
SELECT id FROM run WHERE kind = 'session' AND began < ?
AND EXISTS (SELECT 1 FROM run_step WHERE run_id = run.id AND at < ?)
AND EXISTS (SELECT 1 FROM run_step WHERE run_id = run.id AND at >= ?)
"""
PURGE_STEPS: Final = "DELETE FROM run_step WHERE run_id = ? AND at < ?"
PURGE: Final = (
    "DELETE FROM run_step WHERE run_id = ?",
    "DELETE FROM run_decision WHERE run_id = ?",
    "DELETE FROM run WHERE id = ?",
)

_RUN: Final = """
SELECT id, kind, status, reason, owner, zone, provider, level, began, ended, rounds,
input_tokens, output_tokens, mark, fault, truncated, lost, content,
(SELECT count(*) FROM run_step WHERE run_id = run.id),
(SELECT max(seq) - CASE WHEN run.kind = 'run' THEN 1 ELSE min(seq) END + 1 - count(*)
FROM run_step WHERE run_id = run.id) FROM run
"""
RUNS: Final = f"""{_RUN}
WHERE (began, id) < (?, ?) AND (status = ? OR ? = '') ORDER BY began DESC, id DESC LIMIT ?
"""
RUN: Final = _RUN + "WHERE id = ?"
BEGINNING: Final = "SELECT id FROM run WHERE id >= ? AND id < ? ORDER BY id LIMIT 2"
STEPS: Final = """
SELECT seq, at, kind, round, position, duration_s, actor, tool, distribution, version, status,
effect, facts, content FROM run_step WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?
"""
OUTLINE: Final = """
SELECT seq, at, kind, round, position, duration_s, actor, tool, distribution, version, status,
effect, facts FROM run_step WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?
"""
CALLS_SINCE: Final = """
SELECT at, tool, status FROM run_step WHERE kind = 'tool' AND at >= ? ORDER BY at DESC LIMIT ?
"""
SAID: Final = """
SELECT wait, position, at, verdict, decided_by FROM run_decision WHERE run_id = ? AND wait > 0
ORDER BY wait, position
"""
TOLD: Final = """
SELECT s.round, s.position, d.at, d.verdict, d.decided_by
FROM run_decision d JOIN run_step s
ON s.run_id = d.run_id AND s.number = d.position AND s.kind = 'tool'
WHERE d.run_id = ? AND d.wait = 0 ORDER BY s.seq
"""
