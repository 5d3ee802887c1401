-- Everything that Dramaturg keeps, in one DuckDB file: the whole schema as it stands. A change raises the
-- number in _schema.py. What people, judges and metrics said is only ever added to: a later
-- row counts, and ``undoes`` names a row that is taken back. A transcript is named by its id without a foreign key, as
-- DuckDB refuses many updates of rows that others refer to.

CREATE TABLE schema_migrations (
    number integer PRIMARY KEY,
    name text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);

-- Agents and runs, to which the tables of spec/persona-evaluation.md refer.
CREATE TABLE agents (
    id text PRIMARY KEY,
    display_name text NOT NULL,
    kind text NOT NULL DEFAULT 'agent' CHECK (kind IN ('agent', 'environment')),
    persona JSON,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE runs (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    kind text NOT NULL,
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'running', 'completed', 'failed')),
    label text,
    metadata JSON,
    created_at timestamptz NOT NULL DEFAULT now(),
    completed_at timestamptz
);

-- The four tables of spec/persona-evaluation.md, column for column; columns of ours stand after them. DuckDB has no
-- cascades, so deletes cascade in code.

-- ``scores`` sums up each dimension, also one without a score; ``judge`` and ``model`` are those that answered most.
CREATE SEQUENCE run_numbers;
CREATE TABLE evaluation_runs (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    agent_id text NOT NULL REFERENCES agents (id),
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'running', 'completed', 'failed')),
    dimensions text[] NOT NULL,
    window_start timestamptz,
    window_end timestamptz,
    sample_size integer NOT NULL,
    overall_score real,
    is_baseline boolean NOT NULL DEFAULT false,
    token_usage JSON,
    created_at timestamptz NOT NULL DEFAULT now(),
    completed_at timestamptz,
    mode text,
    judge text,
    model text,
    seed integer,
    scores JSON,
    error text,
    position bigint DEFAULT nextval('run_numbers'),
    owner text
);
CREATE INDEX evaluation_runs_by_agent ON evaluation_runs (agent_id, created_at);

-- One row per proposition and message (or trajectory, where there is no message). ``score`` has inverted claims turned
-- round, ``raw_score`` is what the judge said; ``mark`` tells a 9 that says nothing about the agent. Ideas are counted,
-- so only the dimensions that are marked from 0 to 9 have a highest score.
CREATE TABLE evaluation_scores (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    evaluation_run_id uuid NOT NULL REFERENCES evaluation_runs (id),
    dimension text NOT NULL,
    proposition_id text NOT NULL,
    score real NOT NULL CHECK (score >= 0),
    reasoning text NOT NULL,
    context_snippet text,
    created_at timestamptz NOT NULL DEFAULT now(),
    position integer,
    claim text,
    weight real,
    is_inverted boolean,
    raw_score integer,
    mark text,
    transcript_id text,
    message_id text,
    citations JSON,
    ideas JSON,
    confidence real,
    judge text,
    model text,
    judgement_key text,
    CHECK (dimension NOT IN ('adherence', 'consistency', 'fluency', 'convergence', 'suitability') OR score <= 9)
);
CREATE INDEX evaluation_scores_by_run ON evaluation_scores (evaluation_run_id, dimension);

-- One row per attempt of the gate; those of one message share ``group_id``.
CREATE TABLE correction_logs (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    agent_id text NOT NULL REFERENCES agents (id),
    run_id uuid REFERENCES runs (id),
    original_text text NOT NULL,
    corrected_text text,
    dimension_scores JSON,
    similarity_score real,
    total_score real,
    attempt_number integer NOT NULL,
    outcome text NOT NULL CHECK (
        outcome IN ('passed', 'corrected', 'passed_after_retry', 'forced_through', 'timeout_pass_through')
    ),
    token_usage JSON,
    created_at timestamptz NOT NULL DEFAULT now(),
    group_id uuid,
    attempt_text text,
    is_committed boolean,
    feedback text,
    is_similar boolean,
    experiment_id uuid
);
CREATE INDEX correction_logs_by_agent ON correction_logs (agent_id, created_at);
CREATE TABLE agent_evaluation_config (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    agent_id text NOT NULL UNIQUE REFERENCES agents (id),
    gate_adherence_enabled boolean NOT NULL DEFAULT false,
    gate_consistency_enabled boolean NOT NULL DEFAULT false,
    gate_fluency_enabled boolean NOT NULL DEFAULT false,
    gate_suitability_enabled boolean NOT NULL DEFAULT false,
    gate_adherence_threshold real NOT NULL DEFAULT 7.0,
    gate_consistency_threshold real NOT NULL DEFAULT 7.0,
    gate_fluency_threshold real NOT NULL DEFAULT 7.0,
    gate_suitability_threshold real NOT NULL DEFAULT 7.0,
    gate_similarity_enabled boolean NOT NULL DEFAULT false,
    max_action_similarity real NOT NULL DEFAULT 0.6,
    max_correction_attempts integer NOT NULL DEFAULT 2,
    continue_on_failure boolean NOT NULL DEFAULT true,
    minimum_required_qty_of_actions integer NOT NULL DEFAULT 0,
    anti_convergence_enabled boolean NOT NULL DEFAULT false,
    convergence_threshold real NOT NULL DEFAULT 0.6,
    variety_intervention_enabled boolean NOT NULL DEFAULT false,
    variety_message_threshold integer NOT NULL DEFAULT 7,
    repetition_suppression_enabled boolean NOT NULL DEFAULT false,
    repetition_threshold real NOT NULL DEFAULT 0.3,
    updated_at timestamptz NOT NULL DEFAULT now()
);

-- Agents: who speaks for which, what a scorer could not do, and against what later runs are held.
CREATE TABLE agent_speakers (
    speaker text PRIMARY KEY,
    agent_id text NOT NULL,
    who text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE score_failures (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    evaluation_run_id uuid,
    transcript_id text,
    scorer text NOT NULL,
    subject text NOT NULL,
    reason text NOT NULL,
    traceback text,
    created_at timestamptz NOT NULL DEFAULT now(),
    proposition_id text,
    status text,
    message_reference text
);

-- What was deleted and can come back until it ``ended``: its transcripts and its iteration name it as ``deletion_id``.
CREATE SEQUENCE deletion_numbers;
CREATE TABLE deletions (
    deletion_id bigint PRIMARY KEY,
    kind text NOT NULL CHECK (kind IN ('games', 'iteration')),
    label text NOT NULL,
    games integer NOT NULL,
    who text NOT NULL,
    deleted_at timestamptz NOT NULL DEFAULT now(),
    ended text CHECK (ended IN ('undone', 'purged')),
    ended_by text,
    ended_at timestamptz
);

-- Iterations of a prompt, what was decided about them, and earlier descriptions. No renaming changes ``position``.
CREATE SEQUENCE iteration_numbers;
CREATE TABLE stored_iterations (
    position bigint PRIMARY KEY,
    name text NOT NULL,
    parent text,
    prompt_text text NOT NULL DEFAULT '',
    change text NOT NULL DEFAULT '',
    target_metric text,
    created_at timestamptz NOT NULL DEFAULT now(),
    deletion_id bigint
);
CREATE VIEW iterations AS SELECT * EXCLUDE (deletion_id) FROM stored_iterations WHERE deletion_id IS NULL;
CREATE SEQUENCE iteration_event_numbers;
CREATE TABLE iteration_events (
    event_id bigint NOT NULL DEFAULT nextval('iteration_event_numbers'),
    iteration_number bigint NOT NULL,
    kind text NOT NULL CHECK (
        kind IN ('promoted', 'signed_off', 'withdrawn', 'kept', 'reverted', 'decision_withdrawn')
    ),
    who text NOT NULL DEFAULT '',
    note text NOT NULL DEFAULT '',
    reason text NOT NULL DEFAULT '',
    reference text,
    rule text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE SEQUENCE iteration_change_numbers;
CREATE TABLE iteration_changes (
    change_id bigint NOT NULL DEFAULT nextval('iteration_change_numbers'),
    iteration_number bigint NOT NULL,
    name text NOT NULL,
    parent text,
    prompt_text text NOT NULL,
    change text NOT NULL,
    target_metric text,
    who text NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now()
);

-- Transcripts. ``document`` is the canonical JSON (zlib), from which one is read back without loss; the other tables
-- hold the same for SQL, without indexes, as they are only ever scanned or joined. ``position`` counts up over the
-- whole store: the order in which games entered their iteration. The view ``living_games`` is the one place that leaves
-- out what is deleted: a query over all games reads ``transcripts``, which follows from it, or joins it.
CREATE SEQUENCE transcript_numbers;
CREATE TABLE stored_transcripts (
    transcript_id text PRIMARY KEY,
    position bigint NOT NULL,
    game_id text NOT NULL,
    source_format text NOT NULL,
    source_name text NOT NULL,
    iteration_number bigint,
    language text,
    started_at timestamptz,
    winner text,
    players integer NOT NULL,
    messages integer NOT NULL,
    player_names text[] NOT NULL,
    opening text NOT NULL,
    total_usd double,
    input_tokens bigint,
    cached_tokens bigint,
    output_tokens bigint,
    cache_hit_rate double,
    added_at timestamptz NOT NULL DEFAULT now(),
    document blob NOT NULL,
    deletion_id bigint
);
CREATE VIEW living_games AS SELECT * EXCLUDE (deletion_id) FROM stored_transcripts WHERE deletion_id IS NULL;
CREATE VIEW transcripts AS
    SELECT t.* EXCLUDE (iteration_number), i.name AS iteration
    FROM living_games t LEFT JOIN iterations i ON i.position = t.iteration_number;
CREATE TABLE players (
    transcript_id text NOT NULL,
    position integer NOT NULL,
    name text NOT NULL,
    role text,
    alignment text,
    personality text,
    persona JSON,
    model text,
    is_human boolean,
    is_alive boolean,
    metadata JSON
);
CREATE TABLE messages (
    transcript_id text NOT NULL,
    position integer NOT NULL,
    message_id text NOT NULL,
    round integer,
    phase text,
    channel text NOT NULL,
    channel_name text,
    speaker text NOT NULL,
    recipients text[],
    text text NOT NULL,
    sent_at timestamptz,
    reply_to text,
    is_control boolean NOT NULL,
    metadata JSON
);
CREATE TABLE votes (
    transcript_id text NOT NULL,
    position integer NOT NULL,
    round integer,
    phase text,
    voter text NOT NULL,
    target text,
    justification text,
    sent_at timestamptz
);
CREATE TABLE eliminations (
    transcript_id text NOT NULL,
    position integer NOT NULL,
    round integer,
    phase text,
    player text NOT NULL,
    role text,
    sent_at timestamptz
);

-- What became of files that came in, and games that wait for their turn.
CREATE SEQUENCE import_numbers;
CREATE TABLE import_reports (
    report_id text PRIMARY KEY,
    position bigint NOT NULL,
    document JSON NOT NULL
);
CREATE TABLE spool (
    job_id text NOT NULL,
    position integer NOT NULL,
    source_name text NOT NULL,
    iteration text,
    document blob NOT NULL
);

-- Results of metrics. No index on the ledger: millions of rows, written in bulk in the order of ``result_id``, which
-- lets scans skip the rest.
CREATE SEQUENCE result_numbers;
CREATE TABLE metric_results (
    result_id bigint NOT NULL,
    transcript_id text NOT NULL,
    metric text NOT NULL CHECK (
        metric IN ('memory_accuracy', 'strategic_depth', 'coherence', 'role_consistency', 'personality_diversity', 'anti_repetition', 'engagement')
    ),
    version text NOT NULL,
    method text NOT NULL CHECK (method IN ('rule', 'reader', 'judge', 'human')),
    status text NOT NULL CHECK (status IN ('passed', 'failed', 'not_applicable', 'pending')),
    score double,
    numerator double NOT NULL,
    denominator double NOT NULL,
    threshold double NOT NULL,
    reason text NOT NULL,
    notes text[] NOT NULL,
    details JSON,
    control JSON,
    digest text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX metric_results_by_transcript ON metric_results (transcript_id);
CREATE TABLE ledger (
    result_id bigint NOT NULL,
    position integer NOT NULL,
    row_id text NOT NULL,
    kind text NOT NULL,
    verdict text NOT NULL CHECK (verdict IN ('counts', 'does_not_count', 'excluded')),
    message_id text,
    player text,
    numerator double NOT NULL,
    denominator double NOT NULL,
    method text NOT NULL CHECK (method IN ('rule', 'reader', 'judge', 'human')),
    reason text NOT NULL,
    evidence JSON,
    refers_to text,
    details JSON
);
CREATE VIEW current_results AS
    SELECT * FROM metric_results
    QUALIFY row_number() OVER (PARTITION BY transcript_id, metric ORDER BY result_id DESC) = 1;

-- Scores as they stand, whoever decided their rows: rewritten, a game at a time, in the transaction that
-- stores a result, a control, a decision, an override or a rating of it. All are judged by today's
-- thresholds, also in the transaction that changes one. ``result_id`` is the computed result; engagement, which follows from ratings, has none.
CREATE TABLE current_scores (
    transcript_id text NOT NULL,
    metric text NOT NULL CHECK (
        metric IN ('memory_accuracy', 'strategic_depth', 'coherence', 'role_consistency', 'personality_diversity', 'anti_repetition', 'engagement')
    ),
    result_id bigint,
    score double,
    numerator double NOT NULL,
    denominator double NOT NULL,
    status text NOT NULL CHECK (status IN ('passed', 'failed', 'not_applicable', 'pending')),
    threshold double NOT NULL,
    method text NOT NULL CHECK (method IN ('rule', 'reader', 'judge', 'human')),
    version text NOT NULL,
    reason text NOT NULL,
    considered double,
    control JSON
);
CREATE INDEX current_scores_by_transcript ON current_scores (transcript_id);
-- The rows of these scores that somebody decided or added, in place of the computed ones with the same ids.
CREATE TABLE decided_rows (
    transcript_id text NOT NULL,
    metric text NOT NULL,
    position integer NOT NULL,
    row_id text NOT NULL,
    message_id text,
    player text,
    numerator double NOT NULL,
    denominator double NOT NULL,
    reason text NOT NULL
);
CREATE VIEW current_ledger AS
    SELECT c.transcript_id, c.metric, c.result_id, l.position, l.row_id, l.message_id, l.player, l.numerator,
        l.denominator, l.reason
    FROM current_scores c JOIN ledger l USING (result_id)
    ANTI JOIN decided_rows d ON d.transcript_id = c.transcript_id AND d.metric = c.metric AND d.row_id = l.row_id
    UNION ALL
    SELECT d.transcript_id, d.metric, c.result_id, d.position, d.row_id, d.message_id, d.player, d.numerator,
        d.denominator, d.reason
    FROM decided_rows d JOIN current_scores c USING (transcript_id, metric);
-- The computed rows that a person should check, and what each decision would make of the score.
CREATE TABLE rows_in_doubt (
    transcript_id text NOT NULL,
    metric text NOT NULL,
    row_id text NOT NULL,
    kind text NOT NULL,
    before double,
    if_counts double,
    if_not double,
    if_excluded double
);
CREATE SEQUENCE control_numbers;
CREATE TABLE controls (
    control_id bigint NOT NULL DEFAULT nextval('control_numbers'),
    transcript_id text NOT NULL,
    metric text NOT NULL,
    version text NOT NULL,
    control JSON NOT NULL,
    links JSON,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- Decisions on rows of a ledger: by a judge, and by a person, which outranks it.
CREATE SEQUENCE row_decision_numbers;
CREATE TABLE row_decisions (
    decision_id bigint NOT NULL DEFAULT nextval('row_decision_numbers'),
    transcript_id text NOT NULL,
    metric text NOT NULL,
    row_id text NOT NULL,
    verdict text CHECK (verdict IN ('counts', 'does_not_count', 'excluded')),
    label text NOT NULL,
    reason text NOT NULL,
    confidence double,
    citations text[] NOT NULL,
    judge text NOT NULL,
    model text NOT NULL,
    judgement_key text NOT NULL,
    withdrawn_by text,
    decided_at timestamptz NOT NULL DEFAULT now(),
    added_row text
);
CREATE INDEX row_decisions_by_transcript ON row_decisions (transcript_id);
CREATE SEQUENCE override_numbers;
CREATE TABLE overrides (
    override_id bigint NOT NULL DEFAULT nextval('override_numbers'),
    transcript_id text NOT NULL,
    metric text NOT NULL,
    row_id text NOT NULL,
    verdict text CHECK (verdict IN ('counts', 'does_not_count', 'excluded')),
    author text NOT NULL,
    reason text NOT NULL,
    undoes bigint,
    created_at timestamptz NOT NULL DEFAULT now(),
    added_words text
);

-- Ratings by people. One from a sheet with an earlier time, or from a second tab, ``is_past``: it never replaces another.
-- ``is_informed``: its rater had seen scores of the game, or what others gave, in the same session.
CREATE SEQUENCE rating_numbers;
CREATE TABLE ratings (
    token text PRIMARY KEY,
    rating_id bigint NOT NULL DEFAULT nextval('rating_numbers'),
    transcript_id text NOT NULL,
    rater text NOT NULL,
    score double NOT NULL CHECK (score BETWEEN 1 AND 5 AND 2 * score = floor(2 * score)),
    answers boolean[] NOT NULL,
    comment text NOT NULL,
    created_at timestamptz NOT NULL,
    is_past boolean DEFAULT false,
    is_informed boolean DEFAULT false
);
CREATE VIEW current_ratings AS
    SELECT * FROM ratings SEMI JOIN living_games USING (transcript_id)
    QUALIFY row_number() OVER (
        PARTITION BY transcript_id, rater ORDER BY coalesce(is_past, false), rating_id DESC) = 1;
CREATE VIEW engagement AS
    SELECT transcript_id, avg(score) AS score, count(*) AS raters FROM current_ratings GROUP BY transcript_id;
CREATE SEQUENCE engagement_decision_numbers;
CREATE TABLE engagement_decisions (
    decision_id bigint NOT NULL DEFAULT nextval('engagement_decision_numbers'),
    transcript_id text NOT NULL,
    score double CHECK (score BETWEEN 1 AND 5 AND 2 * score = floor(2 * score)),
    reason text NOT NULL,
    who text NOT NULL,
    undoes bigint,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- The rating desk: forms and their drafts, who should rate what, games that cannot be rated, and practice.
CREATE TABLE assignments (
    token text PRIMARY KEY,
    rater text NOT NULL,
    transcript_id text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE SEQUENCE draft_numbers;
CREATE TABLE drafts (
    token text PRIMARY KEY,
    revision integer NOT NULL,
    body JSON NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    touched bigint DEFAULT nextval('draft_numbers')
);
CREATE SEQUENCE rating_assignment_numbers;
CREATE TABLE rating_assignments (
    assignment_id bigint NOT NULL DEFAULT nextval('rating_assignment_numbers'),
    transcript_id text NOT NULL,
    rater text NOT NULL,
    who text NOT NULL,
    undoes bigint,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE VIEW current_rating_assignments AS
    SELECT * FROM rating_assignments a SEMI JOIN living_games USING (transcript_id)
    WHERE undoes IS NULL AND NOT EXISTS (SELECT 1 FROM rating_assignments u WHERE u.undoes = a.assignment_id);
CREATE SEQUENCE handover_numbers;
CREATE TABLE rating_handovers (
    handover_id bigint NOT NULL DEFAULT nextval('handover_numbers'),
    rater text NOT NULL,
    iteration text NOT NULL,
    reference text,
    created_at timestamptz NOT NULL DEFAULT now()
);
-- Games that a rater puts aside until nothing else is left.
CREATE TABLE skipped_games (
    rater text NOT NULL,
    transcript_id text NOT NULL
);
CREATE SEQUENCE discard_numbers;
CREATE TABLE discards (
    discard_id bigint NOT NULL DEFAULT nextval('discard_numbers'),
    transcript_id text NOT NULL,
    rater text NOT NULL,
    reason text NOT NULL,
    note text NOT NULL DEFAULT '',
    who text NOT NULL,
    undoes bigint,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE VIEW current_discards AS
    SELECT * FROM discards d SEMI JOIN living_games USING (transcript_id)
    WHERE undoes IS NULL AND NOT EXISTS (SELECT 1 FROM discards u WHERE u.undoes = d.discard_id);
CREATE TABLE style_answers (
    transcript_id text,
    rater text,
    player text,
    kind text NOT NULL CHECK (kind IN ('personality', 'voice')),
    candidates text[] NOT NULL,
    message_ids text[] NOT NULL,
    truth text NOT NULL,
    chosen text,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (transcript_id, rater, player)
);

-- Models: answers that are never asked for twice, what every call cost, and texts by their hash.
-- ``outcome`` is "answered" or the kind of failure; ``judgements`` counts what was asked for in the call.
CREATE TABLE judgements (
    key text PRIMARY KEY,
    model text NOT NULL,
    prompt JSON NOT NULL,
    answer JSON NOT NULL,
    input_tokens bigint,
    cached_tokens bigint,
    output_tokens bigint,
    cost_usd double,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE llm_calls (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    run_id uuid,
    purpose text NOT NULL,
    model text NOT NULL,
    judgement_key text,
    is_cached boolean NOT NULL DEFAULT false,
    input_tokens bigint,
    cached_tokens bigint,
    output_tokens bigint,
    cost_usd double,
    seconds double,
    error text,
    created_at timestamptz NOT NULL DEFAULT now(),
    attempt integer,
    outcome text,
    judgements integer
);
CREATE TABLE generations (
    key text PRIMARY KEY,
    scope text NOT NULL,
    model text NOT NULL,
    purpose text NOT NULL,
    subject text NOT NULL,
    text text NOT NULL,
    input_tokens bigint,
    cached_tokens bigint,
    output_tokens bigint,
    cost_usd double,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE judge_texts (
    sha256 text PRIMARY KEY,
    text text NOT NULL
);

-- Experiments: the games of each side, and what was measured in them.
CREATE TABLE experiments (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    name text NOT NULL,
    scenario text NOT NULL,
    seed bigint,
    scale double,
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'running', 'completed', 'failed')),
    config JSON,
    results JSON,
    created_at timestamptz NOT NULL DEFAULT now(),
    completed_at timestamptz
);
-- Every run of an arm (a side, a variant) on a unit, in the parts in which it came about.
CREATE TABLE study_runs (
    experiment_id text NOT NULL,
    arm text NOT NULL,
    unit integer NOT NULL,
    run JSON NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- What models found in games beyond the metrics.
CREATE SEQUENCE insight_numbers;
CREATE TABLE insight_checks (
    number bigint NOT NULL,
    place integer NOT NULL,
    transcript_id text NOT NULL,
    check_type text NOT NULL,
    status text NOT NULL,
    score double CHECK (score BETWEEN 0 AND 1),
    passed boolean,
    threshold double NOT NULL,
    agent text,
    message_id text,
    excerpt text NOT NULL,
    explanation text NOT NULL,
    judge text NOT NULL,
    model text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE insight_findings (
    number bigint NOT NULL,
    transcript_id text NOT NULL,
    kind text NOT NULL,
    question text NOT NULL,
    result JSON NOT NULL,
    judge text NOT NULL,
    model text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- Settings, and long-running jobs; whether a job's process has died is seen on reading, no row says so.
CREATE TABLE settings (
    key text PRIMARY KEY,
    value JSON NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE SEQUENCE job_numbers;
CREATE TABLE jobs (
    job_id text PRIMARY KEY,
    position bigint NOT NULL DEFAULT nextval('job_numbers'),
    kind text NOT NULL,
    label text NOT NULL,
    total integer NOT NULL,
    done integer NOT NULL DEFAULT 0,
    state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done', 'failed', 'cancelled')),
    message text NOT NULL DEFAULT '',
    owner text NOT NULL,
    is_cancel_requested boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    heartbeat timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    resumed_at timestamptz,
    resumed_done integer
);
