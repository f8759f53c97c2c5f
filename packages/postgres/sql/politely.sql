-- Politely in Postgres 15 or later: one pace for a fleet of crawlers, and its robots.txt files.
--
-- Run this file as the role that shall own the schema, once, and once more for each new version:
--
--   psql -f politely.sql
--   psql -c 'GRANT USAGE ON SCHEMA politely TO crawler' -c 'GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA politely TO crawler'
--
-- A worker asks before each request:
--
--   SELECT politely.reserve('{"key": "https://example.com", "limits": {"ownDelayMs": 1000}}')
--
--   {"kind": "slot", "slot": 1764285000000000, "delay": {"delayMs": 1000, …}, …}   send the request
--   {"kind": "wait", "waitMs": 1000, "turn": {"turnAt": …, …}, …}                  ask again then, with the fields of turn
--
-- Without the fields of `turn`, no delay is shorter, but the worker is new each time: it gets a
-- later turn, and a busy site can make it wait for ever. docs/postgres.md describes the other
-- fields.
--
-- How it works
--
-- Each key (an origin, a domain, an address) has one row in `pace`: when the next request may
-- start, and why. A call locks this row, reads the clock of Postgres, and decides. So two workers
-- never get the same slot, and their clocks need not agree. No call waits for a slot: waiting is an
-- answer.
--
-- Workers that wait take turns, so that only one of them calls for each slot. Three workers call
-- for a site with a delay of 1,000 ms. Their allowances add up to 30 ms, of which 7 ms are for the
-- timer of a waiting worker.
--
--   worker 1   slot               its request starts; the next slot is 1,023 ms later
--   worker 2   wait of 1,023 ms   its turn is at the next slot
--   worker 3   wait of 2,053 ms   its turn is one step later: 1,000 + 30 ms
--
-- Paces are UNLOGGED: they cost no WAL, and a crash empties them. The row of `epoch` is lost with
-- them. It says since when nothing was lost. A pace whose last visit was in an earlier epoch may
-- lack later visits. It gets a visit at the start of the epoch, so no delay is shorter than asked.
--
-- If requests have the field `lease`, the requests under way are counted too: a request counts until
-- `release_slot` or `cancel`, or until its lease is over. Requests without the field are not counted.
--
-- The functions mirror packages/core/src/pace and the script of packages/redis: the same names, the
-- same arithmetic on doubles. Times are in milliseconds, points in time since 1970. Each call is
-- one transaction. Don't call them in a longer one: the row would stay locked until its end.
DO $politely$
DECLARE
  newest constant integer := 2;
  -- The role of the workers, if `migrate` grants them their rights.
  worker constant text := NULL;
  worker_functions constant text[] := '{reserve,estimate,report,pause,sent,cancel,cancel_wait,end_request,release_slot,renew_slot,circuit,
    call_many,reserve_many,robots_get,robots_set,robots_delete,lease,release}';
  path_before constant text := pg_catalog.current_setting('search_path');
  installed integer;
  schema_owner text;
  functions_before oid[];
  one oid;
BEGIN
-- No function or operator of another schema may run here, with the rights of the owner.
PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
PERFORM set_config('client_min_messages', 'warning', true);
PERFORM pg_advisory_xact_lock(hashtextextended('schema politely', 0));

-- The version of the schema ---------------------------------------------------------------------

SELECT pg_get_userbyid(n.nspowner) INTO schema_owner FROM pg_namespace n WHERE n.nspname = 'politely';
IF schema_owner <> current_user THEN
  RAISE EXCEPTION 'belongs to the role %; expected a schema of %: migrate as its owner, or choose another name',
    schema_owner, current_user USING ERRCODE = 'PL002';
END IF;
CREATE SCHEMA IF NOT EXISTS politely;
IF to_regclass('politely.version') IS NULL THEN
  IF EXISTS (SELECT FROM pg_depend d WHERE d.refclassid = 'pg_namespace'::regclass AND d.refobjid = 'politely'::regnamespace
    AND d.classid IN ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_type'::regclass)) THEN
    RAISE EXCEPTION 'has objects of other programs; expected an empty schema: choose another name' USING ERRCODE = 'PL002';
  END IF;
  CREATE TABLE politely.version (version integer NOT NULL);
ELSE
  SELECT v.version INTO installed FROM politely.version v;
  IF installed IS NULL THEN
    RAISE EXCEPTION 'has no version that this transaction sees; expected one: migrate again with the isolation READ COMMITTED, or drop the schema'
      USING ERRCODE = 'PL002';
  END IF;
END IF;
IF installed > newest THEN
  RAISE EXCEPTION 'the schema has version %, which is newer than %; expected a newer package', installed, newest
    USING ERRCODE = 'PL002';
END IF;
functions_before := ARRAY(SELECT f.oid FROM pg_proc f WHERE f.pronamespace = 'politely'::regnamespace);

IF installed IS NULL THEN
  -- Version 1: data -------------------------------------------------------------------------------

  INSERT INTO politely.version VALUES (newest);

  -- One row for each key. No index but the primary key, and free space in each page, so that an
  -- update changes no index (HOT).
  CREATE UNLOGGED TABLE politely.pace (
    key text COLLATE "C" PRIMARY KEY,
    -- The earliest start of the next request, and what it comes from.
    next_slot_at float8 NOT NULL DEFAULT 0,
    because text NOT NULL DEFAULT 'own-delay',
    -- The number of the last slot: a time in microseconds, so that numbers are unique and grow even
    -- if data is lost. -1: no slot yet.
    slots float8 NOT NULL DEFAULT -1,
    -- How many pushbacks came in a row, the last slot when the last one came, and the longest pause
    -- of its backoff.
    pushbacks integer NOT NULL DEFAULT 0,
    slots_at_pushback float8 NOT NULL DEFAULT 0,
    max_backoff_ms float8 NOT NULL DEFAULT 0,
    -- The last pause that a returned slot does not shorten.
    lasting_until float8 NOT NULL DEFAULT 0,
    lasting_because text NOT NULL DEFAULT 'backoff',
    -- The epoch of the last visit.
    epoch float8 NOT NULL DEFAULT -1,
    -- The last turn of a waiting worker.
    last_turn_at float8 NOT NULL DEFAULT 0,
    -- The request under way whose end begins the next delay: when it counts as lost, and the delay.
    under_way_until float8,
    under_way_ms float8,
    under_way_because text,
    -- From this time on, the row says nothing any more and may be deleted.
    keep_until float8 NOT NULL DEFAULT 0
  ) WITH (fillfactor = 70);

  -- One row: since when the server has lost no data, and the history in which this is true.
  CREATE UNLOGGED TABLE politely.epoch (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    start float8 NOT NULL,
    history text NOT NULL
  );

  -- The circuit of an origin with failures. The workers compute its value.
  CREATE UNLOGGED TABLE politely.circuit (
    origin text COLLATE "C" PRIMARY KEY,
    value text NOT NULL,
    keep_until float8 NOT NULL
  ) WITH (fillfactor = 70);

  -- The robots.txt files, kept after a crash. The workers choose the text.
  CREATE TABLE politely.robots (
    origin text COLLATE "C" PRIMARY KEY,
    text text NOT NULL,
    keep_until float8 NOT NULL
  );

  -- Who fetches a robots.txt now.
  CREATE UNLOGGED TABLE politely.lease (
    origin text COLLATE "C" PRIMARY KEY,
    token text NOT NULL,
    keep_until float8 NOT NULL
  );

  -- For each table: when the next step of its sweep is due, and after which key it goes on.
  CREATE UNLOGGED TABLE politely.sweep (
    swept text PRIMARY KEY,
    due float8 NOT NULL,
    after text COLLATE "C" NOT NULL
  );

  -- Requests ------------------------------------------------------------------------------------
  --
  -- The fields have the names of the JSON. A value that does not fit is a bad request.

  -- The bounds keep products and quotients of two values within the doubles.
  CREATE DOMAIN politely.ms AS float8 CHECK (VALUE = 0 OR VALUE >= 1e-18 AND VALUE <= 1e18);
  CREATE DOMAIN politely.pause_ms AS float8 CHECK (VALUE >= -1e18 AND VALUE <= 1e18);
  CREATE DOMAIN politely.minute AS integer CHECK (VALUE >= 0 AND VALUE <= 1440);
  CREATE DOMAIN politely.reason AS text CHECK (VALUE IN ('own-delay', 'crawl-delay', 'request-rate', 'cap',
    'slow-site', 'retry-after', 'backoff', 'rate-limit'));

  CREATE TYPE politely.request AS (
    key text, now politely.ms, limits jsonb, slot politely.ms,
    "turnAt" politely.ms, "turnBefore" politely.ms, "turnStepMs" politely.ms, "takesTurn" boolean,
    "allowanceMs" politely.ms, "allowedMs" politely.ms, "timerAllowanceMs" politely.ms,
    "maxAllowanceMs" politely.ms, "unsentMs" politely.ms, "knownPauses" jsonb,
    "agoMs" politely.ms, delay jsonb, pushback jsonb, "tookMs" politely.ms, ahead politely.ms, "ifClear" boolean
  );
  CREATE TYPE politely.limits AS (
    "ownDelayMs" politely.ms, "maxDelayMs" politely.ms, "crawlDelayMs" politely.ms, "requestRates" jsonb,
    "visitTimes" jsonb, "pauseFrom" text, "delayFactor" politely.ms
  );
  CREATE TYPE politely.hours AS ("from" politely.minute, "to" politely.minute);
  CREATE TYPE politely.rate AS (requests politely.ms, "periodMs" politely.ms, "between" politely.hours);
  CREATE TYPE politely.known_pause AS (ms politely.pause_ms, because politely.reason, epoch float8);
  CREATE TYPE politely.backoff AS ("firstMs" politely.ms, "maxMs" politely.ms, factor float8);
  CREATE TYPE politely.pushback AS ("requestedMs" politely.ms, backoff politely.backoff);
  CREATE TYPE politely.sent_delay AS ("delayMs" politely.ms, because politely.reason);

  CREATE TYPE politely.store_request AS (
    origin text, text text, "keepUntil" politely.ms, token text, "leaseMs" politely.ms, now politely.ms
  );

  CREATE TYPE politely.delay AS (ms float8, because text);
  CREATE TYPE politely.slot AS (at float8, because text);
  -- The epoch that a call is in, and whether it began with the call.
  CREATE TYPE politely.epoch_state AS (start float8, is_lost boolean);
END IF;

IF coalesce(installed, 1) < 2 THEN
  -- Version 2: requests under way -----------------------------------------------------------------

  CREATE TYPE politely.timed_slot AS (slot float8, until float8);

  -- For each key: the slots whose requests are under way, until their leases are over, and the slots
  -- whose pushback was reported, while a second report changes nothing.
  CREATE UNLOGGED TABLE politely.kept_slots (
    key text COLLATE "C" PRIMARY KEY,
    leased politely.timed_slot[] NOT NULL,
    reported politely.timed_slot[] NOT NULL,
    keep_until float8 NOT NULL
  ) WITH (fillfactor = 70);

  CREATE TYPE politely.lease_terms AS (max politely.ms, ms politely.ms, open jsonb);
  ALTER TYPE politely.request ADD ATTRIBUTE lease jsonb, ADD ATTRIBUTE "leaseMs" politely.ms, ADD ATTRIBUTE "onceMs" politely.ms;
  UPDATE politely.version SET version = newest;
END IF;

-- Hours, delays and rates -----------------------------------------------------------------------

CREATE OR REPLACE FUNCTION politely.clock() RETURNS float8 LANGUAGE sql VOLATILE AS $$
  SELECT date_part('epoch', clock_timestamp()) * 1000
$$;

CREATE OR REPLACE FUNCTION politely.is_within(hours politely.hours, at float8) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  minute integer := floor(at / 60000)::bigint % 1440;
BEGIN
  IF hours."from" < hours."to" THEN RETURN minute >= hours."from" AND minute < hours."to"; END IF;
  RETURN minute >= hours."from" OR minute < hours."to";
END $$;

-- The next time after `at` at which this minute of the day begins.
CREATE OR REPLACE FUNCTION politely.next_minute(minute integer, at float8) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  day_ms constant float8 := 86400000;
  today float8 := floor(at / day_ms) * day_ms + (minute % 1440) * 60000;
BEGIN
  RETURN CASE WHEN today > at THEN today ELSE today + day_ms END;
END $$;

CREATE OR REPLACE FUNCTION politely.next_visit_time_at(visit_times jsonb, at float8) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  hours politely.hours;
  opens float8;
BEGIN
  FOR hours IN SELECT * FROM jsonb_populate_recordset(NULL::politely.hours, visit_times) LOOP
    IF politely.is_within(hours, at) THEN RETURN at; END IF;
    opens := least(opens, politely.next_minute(hours."from", at));
  END LOOP;
  RETURN coalesce(opens, at);
END $$;

CREATE OR REPLACE FUNCTION politely.bound_delay(l politely.limits, site_ms float8, because text) RETURNS politely.delay LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN site_ms <= l."ownDelayMs" THEN (l."ownDelayMs", 'own-delay')::politely.delay
    WHEN l."maxDelayMs" IS NULL OR site_ms <= l."maxDelayMs" THEN (site_ms, because)::politely.delay
    ELSE (greatest(l."maxDelayMs", l."ownDelayMs"), 'cap')::politely.delay
  END
$$;

-- The site's delay, extended by its rates. A rate with hours applies only in them, so a delay that
-- it causes ends when they do. If such rates have applied for a whole day, the next day would bring
-- nothing new: they apply until the shortest of their delays is over.
CREATE OR REPLACE FUNCTION politely.apply_rates(l politely.limits, starts_at float8) RETURNS politely.delay LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  max_timed_records constant integer := 24;
  day_ms constant float8 := 86400000;
  delay politely.delay := politely.bound_delay(l, coalesce(l."crawlDelayMs", 0), 'crawl-delay');
  rate politely.rate;
  rate_delay politely.delay;
  timed_hours politely.hours[] := '{}';
  timed_delays politely.delay[] := '{}';
  at float8;
  day_ends float8;
  longer integer;
  still integer;
  next_at float8;
  ends float8;
  shortest politely.delay;
BEGIN
  FOR rate IN SELECT * FROM jsonb_populate_recordset(NULL::politely.rate, l."requestRates") LOOP
    rate_delay := politely.bound_delay(l, rate."periodMs" / rate.requests, 'request-rate');
    IF rate."between" IS NULL THEN
      IF rate_delay.ms > delay.ms THEN delay := rate_delay; END IF;
    ELSIF cardinality(timed_hours) < max_timed_records THEN
      timed_hours := timed_hours || rate."between";
      timed_delays := timed_delays || rate_delay;
    END IF;
  END LOOP;
  at := starts_at + delay.ms;
  longer := cardinality(timed_hours);
  day_ends := at + day_ms;
  LOOP
    still := 0;
    shortest := NULL;
    next_at := NULL;
    FOR i IN 1 .. cardinality(timed_hours) LOOP
      rate_delay := timed_delays[i];
      CONTINUE WHEN starts_at + rate_delay.ms <= at;
      still := still + 1;
      IF shortest IS NULL OR rate_delay.ms < shortest.ms THEN shortest := rate_delay; END IF;
      CONTINUE WHEN NOT politely.is_within(timed_hours[i], at);
      ends := least(starts_at + rate_delay.ms, politely.next_minute((timed_hours[i])."to", at));
      IF next_at IS NULL OR ends > next_at THEN
        next_at := ends;
        delay.because := rate_delay.because;
      END IF;
    END LOOP;
    IF next_at IS NULL THEN RETURN delay; END IF;
    IF still < longer THEN day_ends := at + day_ms; END IF;
    longer := still;
    IF next_at > day_ends THEN
      next_at := greatest(next_at, starts_at + shortest.ms);
      delay.because := shortest.because;
    END IF;
    delay.ms := next_at - starts_at;
    at := next_at;
  END LOOP;
END $$;

CREATE OR REPLACE FUNCTION politely.delay_of_site(l politely.limits, starts_at float8) RETURNS politely.delay LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN l."requestRates" <> '[]' THEN politely.apply_rates(l, starts_at)
    ELSE politely.bound_delay(l, coalesce(l."crawlDelayMs", 0), 'crawl-delay')
  END
$$;

-- Extends a delay by the time that the last request took.
CREATE OR REPLACE FUNCTION politely.apply_slowness(l politely.limits, base politely.delay, took_ms float8) RETURNS politely.delay LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  max_slow_delay_ms constant float8 := 30000;
  slow_ms float8 := least(l."delayFactor" * took_ms, coalesce(l."maxDelayMs", max_slow_delay_ms));
BEGIN
  IF slow_ms > base.ms THEN RETURN (slow_ms, 'slow-site')::politely.delay; END IF;
  RETURN base;
END $$;

-- The delay that begins at `starts_at`, after a request that took `took_ms`. Like the other
-- functions in SQL, it becomes a part of the expression that calls it.
CREATE OR REPLACE FUNCTION politely.delay_of(l politely.limits, starts_at float8, took_ms float8) RETURNS politely.delay LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN l."delayFactor" > 0 AND took_ms > 0 THEN politely.apply_slowness(l, politely.delay_of_site(l, starts_at), took_ms)
    ELSE politely.delay_of_site(l, starts_at)
  END
$$;

-- The pace -------------------------------------------------------------------------------------

-- When the pace has no more consequences.
CREATE OR REPLACE FUNCTION politely.can_forget_at(p politely.pace) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
  SELECT greatest(p.next_slot_at + CASE WHEN p.pushbacks > 0 THEN p.max_backoff_ms ELSE 0 END, p.under_way_until)
$$;

-- The next slot from `at` on, at any hour. While a request is under way whose end begins the next
-- delay, that is the slot after an end right now, or 100 ms later if there is no delay.
CREATE OR REPLACE FUNCTION politely.slot_after_pause(p politely.pace, at float8) RETURNS politely.slot LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN at < p.under_way_until AND at + coalesce(nullif(p.under_way_ms, 0), 100) >= p.next_slot_at
      THEN (at + coalesce(nullif(p.under_way_ms, 0), 100), p.under_way_because)::politely.slot
    WHEN p.next_slot_at > at THEN (p.next_slot_at, p.because)::politely.slot
    ELSE (at, 'none')::politely.slot
  END
$$;

CREATE OR REPLACE FUNCTION politely.slot_in_visit_time(slot politely.slot, visit_times jsonb) RETURNS politely.slot LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  opens float8 := politely.next_visit_time_at(visit_times, slot.at);
BEGIN
  IF opens > slot.at THEN RETURN (opens, 'visit-time')::politely.slot; END IF;
  RETURN slot;
END $$;

-- The next slot from `at` on.
CREATE OR REPLACE FUNCTION politely.next_slot(p politely.pace, l politely.limits, at float8) RETURNS politely.slot LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN l."visitTimes" <> '[]' THEN politely.slot_in_visit_time(politely.slot_after_pause(p, at), l."visitTimes")
    ELSE politely.slot_after_pause(p, at)
  END
$$;

-- The pace after a request that starts at `at`.
CREATE OR REPLACE FUNCTION politely.take_slot(p politely.pace, at float8, delay politely.delay, pause_from text, allowance_ms float8) RETURNS politely.pace LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  max_under_way_ms constant float8 := 120000;
  next_at float8 := at + delay.ms + allowance_ms;
BEGIN
  IF p.pushbacks > 0 AND at >= politely.can_forget_at(p) THEN p.pushbacks := 0; END IF;
  p.slots := greatest(p.slots + 1, floor(at * 1000));
  p.under_way_until := NULL;
  IF pause_from = 'end' THEN
    p.under_way_until := at + max_under_way_ms;
    p.under_way_ms := delay.ms;
    p.under_way_because := delay.because;
  END IF;
  IF next_at >= p.next_slot_at THEN
    p.next_slot_at := next_at;
    p.because := delay.because;
  END IF;
  RETURN p;
END $$;

-- The pace with a pause that a returned slot does not shorten. A longer pause stays.
CREATE OR REPLACE FUNCTION politely.add_lasting_pause(p politely.pace, until_at float8, because text) RETURNS politely.pace LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF until_at > p.next_slot_at THEN
    p.next_slot_at := until_at;
    p.because := because;
  END IF;
  IF until_at > p.lasting_until THEN
    p.lasting_until := until_at;
    p.lasting_because := because;
  END IF;
  RETURN p;
END $$;

-- The pace after a request gave back its slot without a start.
CREATE OR REPLACE FUNCTION politely.return_slot(p politely.pace, slot float8, now float8) RETURNS politely.pace LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  free_at float8 := greatest(p.lasting_until, now);
BEGIN
  IF slot <> p.slots THEN RETURN p; END IF;
  p.under_way_until := NULL;
  IF p.next_slot_at > free_at THEN
    p.next_slot_at := free_at;
    p.because := p.lasting_because;
  END IF;
  RETURN p;
END $$;

-- The slots that are still kept.
CREATE OR REPLACE FUNCTION politely.still_kept(slots politely.timed_slot[], now float8) RETURNS politely.timed_slot[] LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(array_agg(kept), '{}') FROM unnest(slots) kept WHERE kept.until > now
$$;

CREATE OR REPLACE FUNCTION politely.without_slot(slots politely.timed_slot[], slot float8) RETURNS politely.timed_slot[] LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(array_agg(kept), '{}') FROM unnest(slots) kept WHERE kept.slot <> without_slot.slot
$$;

CREATE OR REPLACE FUNCTION politely.is_kept(slots politely.timed_slot[], slot float8) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT EXISTS (SELECT FROM unnest(slots) kept WHERE kept.slot = is_kept.slot)
$$;

-- A request with a given time is for tests.
CREATE OR REPLACE FUNCTION politely.check_owner() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF session_user <> current_user THEN
    RAISE EXCEPTION 'now: only the owner of the schema may give it; expected a request without now' USING ERRCODE = 'PL001';
  END IF;
END $$;

-- The epoch ------------------------------------------------------------------------------------

-- A row that `enter_epoch` did not insert comes from a dump, and its history is over. This finds a
-- dump that was restored after a DELETE, which leaves the tables and their files as they are.
CREATE OR REPLACE FUNCTION politely.end_restored_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('politely.begins_epoch', true) IS DISTINCT FROM 'yes' THEN NEW.history := 'restored'; END IF;
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER restored BEFORE INSERT ON politely.epoch
  FOR EACH ROW EXECUTE FUNCTION politely.end_restored_history();

-- Returns the present epoch, and begins one if data may be lost: there is no row of the epoch, or
-- its history is another one. A clock that was set back behind the start of the epoch begins one
-- too, so that new keys need not wait for the old start. The history has four parts.
-- `pg_relation_filepath` gives the OID of the database and the relfilenode of `pace`: a dump that
-- is restored in whole, or its data only after a TRUNCATE, changes one of them or the OID of
-- `pace`. The start time changes with each restart. It stands for the system identifier too, which
-- cannot change while the server runs: to read that takes a file.
--
-- A call does this before it locks a pace, so that two calls cannot wait for each other. It first
-- locks the table against TRUNCATE, so that the history stays true until the call ends.
CREATE OR REPLACE FUNCTION politely.enter_epoch(given_now jsonb) RETURNS politely.epoch_state LANGUAGE plpgsql AS $$
DECLARE
  history_now text;
  state politely.epoch_state;
  history_then text;
  now float8;
BEGIN
  IF given_now <> 'null' THEN
    PERFORM politely.check_owner();
    IF jsonb_typeof(given_now) <> 'number' OR given_now < '0' OR given_now > '1e18' THEN
      RAISE EXCEPTION 'now: % is invalid; expected milliseconds since 1970', given_now USING ERRCODE = 'PL001';
    END IF;
    now := given_now;
  END IF;
  LOCK TABLE politely.pace IN ACCESS SHARE MODE;
  history_now := pg_relation_filepath('politely.pace') || ' ' || 'politely.pace'::regclass::oid || ' ' ||
    (date_part('epoch', pg_postmaster_start_time()) * 1000000)::bigint;
  SELECT e.start, e.history INTO state.start, history_then FROM politely.epoch e;
  state.is_lost := false;
  IF history_then = history_now AND state.start <= coalesce(now, politely.clock()) THEN RETURN state; END IF;
  -- Of two calls that find the loss, one begins the epoch, and the other one waits for it.
  PERFORM set_config('politely.begins_epoch', 'yes', true);
  INSERT INTO politely.epoch AS e (start, history) VALUES (coalesce(now, politely.clock()), history_now)
    ON CONFLICT (only_row) DO UPDATE SET start = excluded.start, history = excluded.history 
      WHERE e.history <> excluded.history OR e.start > excluded.start;
  state.is_lost := FOUND;
  PERFORM set_config('politely.begins_epoch', '', true);
  SELECT e.start INTO STRICT state.start FROM politely.epoch e;
  RETURN state;
END $$;

-- The calls ------------------------------------------------------------------------------------

-- An index holds keys of up to 2,704 bytes. Longer ones are hashed.
CREATE OR REPLACE FUNCTION politely.short_key(key text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN octet_length(key) > 1000 THEN 'sha256:' || encode(sha256(convert_to(key, 'UTF8')), 'hex') ELSE key END
$$;

-- Returns which field of an object does not fit its type, or null.
CREATE OR REPLACE FUNCTION politely.problem_in(path text, type anyelement, given jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  field text;
  value jsonb;
BEGIN
  IF jsonb_typeof(given) NOT IN ('object', 'null') THEN
    RETURN format('%s: %s is invalid; expected an object', coalesce(nullif(rtrim(path, '.'), ''), 'request'), left(given::text, 100));
  END IF;
  FOR field, value IN SELECT * FROM jsonb_each(CASE jsonb_typeof(given) WHEN 'object' THEN given END) LOOP
    BEGIN
      PERFORM jsonb_populate_record(type, jsonb_build_object(field, value));
    EXCEPTION WHEN data_exception OR integrity_constraint_violation THEN
      RETURN format('%s%s: %s is invalid; expected %s', path, field, left(value::text, 100), (
        SELECT CASE format_type(a.atttypid, NULL)
            WHEN 'politely.ms' THEN 'a number from 0 to 1e18'
            WHEN 'politely.pause_ms' THEN 'a number from -1e18 to 1e18'
            WHEN 'politely.minute' THEN 'a minute of the day, from 0 to 1440'
            WHEN 'politely.reason' THEN 'a reason such as own-delay'
            WHEN 'boolean' THEN 'true or false'
            WHEN 'double precision' THEN 'a number'
            ELSE 'an object'
          END
          FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
          WHERE c.reltype = pg_typeof(type) AND a.attname = field));
    END;
  END LOOP;
  RETURN NULL;
END $$;

-- The same for a list of objects.
CREATE OR REPLACE FUNCTION politely.problem_in_list(path text, type anyelement, given jsonb) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  IF jsonb_typeof(given) NOT IN ('array', 'null') THEN
    RETURN format('%s: %s is invalid; expected a list', path, left(given::text, 100));
  END IF;
  RETURN (SELECT min(politely.problem_in(format('%s[%s].', path, n - 1), type, one))
    FROM jsonb_array_elements(CASE jsonb_typeof(given) WHEN 'array' THEN given END) WITH ORDINALITY AS u (one, n));
END $$;

-- The same for a request of the pace.
CREATE OR REPLACE FUNCTION politely.problem_in_request(request jsonb) RETURNS text LANGUAGE sql AS $$
  SELECT coalesce(
    politely.problem_in('', NULL::politely.request, request),
    politely.problem_in('limits.', NULL::politely.limits, request -> 'limits'),
    politely.problem_in('lease.', NULL::politely.lease_terms, request -> 'lease'),
    politely.problem_in('delay.', NULL::politely.sent_delay, request -> 'delay'),
    politely.problem_in('pushback.backoff.', NULL::politely.backoff, request -> 'pushback' -> 'backoff'),
    politely.problem_in('pushback.', NULL::politely.pushback, request -> 'pushback'),
    politely.problem_in_list('limits.requestRates', NULL::politely.rate, request -> 'limits' -> 'requestRates'),
    politely.problem_in_list('limits.visitTimes', NULL::politely.hours, request -> 'limits' -> 'visitTimes'),
    politely.problem_in_list('knownPauses', NULL::politely.known_pause, request -> 'knownPauses'))
$$;

-- Reads the lists in a request, and raises an error for a value that does not fit.
CREATE OR REPLACE FUNCTION politely.check_lists(r politely.request, l politely.limits) RETURNS void LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  problem text;
BEGIN
  SELECT 'limits.requestRates: expected requests above 0, periodMs, at most 1e18 ms for a request, and the hours of between'
    INTO problem FROM jsonb_populate_recordset(NULL::politely.rate, l."requestRates") rate
    WHERE rate.requests > 0 IS NOT TRUE OR rate."periodMs" <= 1e18 * rate.requests IS NOT TRUE
      OR NOT rate."between" IS NULL AND NOT rate."between" IS NOT NULL;
  SELECT 'limits.visitTimes: expected from and to, in minutes of the day' INTO problem
    FROM jsonb_populate_recordset(NULL::politely.hours, l."visitTimes") hours WHERE NOT hours IS NOT NULL
    UNION ALL SELECT problem WHERE problem IS NOT NULL;
  SELECT 'knownPauses: expected ms and because' INTO problem
    FROM jsonb_populate_recordset(NULL::politely.known_pause, r."knownPauses") pause WHERE pause.ms IS NULL OR pause.because IS NULL
    UNION ALL SELECT problem WHERE problem IS NOT NULL;
  IF problem IS NOT NULL THEN RAISE EXCEPTION '%', problem USING ERRCODE = 'PL001'; END IF;
END $$;

-- Makes one call of the pace of one key, and returns its reply.
CREATE OR REPLACE FUNCTION politely.apply(op text, request jsonb, state politely.epoch_state) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  max_simulated_requests constant integer := 100;
  r politely.request;
  l politely.limits;
  p politely.pace;
  now float8;
  slot politely.slot;
  delay politely.delay;
  pause politely.known_pause;
  pushback politely.pushback;
  sent_delay politely.sent_delay;
  is_changed boolean := false;
  is_lost boolean := false;
  is_old boolean;
  lease politely.lease_terms;
  kept politely.kept_slots;
  keeps_slots boolean := false;
  is_repeated boolean := false;
  ended jsonb;
  allowed_ms float8;
  soon_ms politely.ms;
  is_soon boolean := false;
  wait_at float8;
  turn_at float8;
  turn_before float8;
  step_ms float8;
  problem text;
  reply jsonb := '{"kind": "done"}';
BEGIN
  -- Read the request. This block writes nothing, so its subtransaction costs little.
  BEGIN
    r := jsonb_populate_record(NULL::politely.request, request);
    l := jsonb_populate_record(NULL::politely.limits, r.limits);
    soon_ms := request ->> 'soonMs';
    IF r.pushback IS NOT NULL THEN pushback := jsonb_populate_record(NULL::politely.pushback, r.pushback); END IF;
    IF r.lease IS NOT NULL THEN lease := jsonb_populate_record(NULL::politely.lease_terms, r.lease); END IF;
    IF r.delay IS NOT NULL THEN sent_delay := jsonb_populate_record(NULL::politely.sent_delay, r.delay); END IF;
    IF l."requestRates" <> '[]' OR l."visitTimes" <> '[]' OR r."knownPauses" <> '[]' THEN
      PERFORM politely.check_lists(r, l);
    END IF;
  EXCEPTION WHEN data_exception OR integrity_constraint_violation THEN
    RAISE EXCEPTION '%', coalesce(politely.problem_in_request(request), sqlerrm) USING ERRCODE = 'PL001';
  END;
  problem := CASE
    WHEN r.key IS NULL THEN 'key is missing; expected a text such as "https://example.com"'
    WHEN op IN ('reserve', 'estimate', 'end') AND l."ownDelayMs" IS NULL THEN
      'limits.ownDelayMs is missing; expected milliseconds such as 1000'
    -- A mistake here must not make a delay shorter than meant.
    WHEN r.limits - '{ownDelayMs,maxDelayMs,crawlDelayMs,requestRates,visitTimes,pauseFrom,delayFactor}'::text[] <> '{}' THEN
      format('limits: unknown fields in %s; expected ownDelayMs, maxDelayMs, crawlDelayMs, requestRates, visitTimes, pauseFrom or delayFactor', left(r.limits::text, 200))
    WHEN l."pauseFrom" NOT IN ('start', 'end') THEN
      format('limits.pauseFrom: %s is invalid; expected start or end', l."pauseFrom")
    WHEN op IN ('cancel', 'report', 'end', 'release', 'renew') AND r.slot IS NULL THEN 'slot is missing; expected the slot of the reply to reserve'
    WHEN op = 'renew' AND r."leaseMs" IS NULL THEN 'leaseMs is missing; expected milliseconds such as 60000'
    WHEN r.lease IS NOT NULL AND ((lease.max + lease.ms) IS NULL OR jsonb_typeof(lease.open) IS DISTINCT FROM 'array') THEN
      'lease: expected max, ms, and open, a list of slots'
    WHEN op = 'cancelWait' AND (r."turnAt" + r."turnBefore" + r."turnStepMs") IS NULL THEN
      'the turn is missing; expected turnAt, turnBefore and turnStepMs of the reply to reserve'
    WHEN sent_delay IS NOT NULL <> (r.delay IS NOT NULL) THEN 'delay: expected delayMs and because'
    WHEN r.pushback IS NOT NULL AND (((pushback.backoff)."firstMs" + (pushback.backoff)."maxMs") IS NULL
      OR (pushback.backoff).factor > 0 IS NOT TRUE) THEN 'pushback.backoff: expected firstMs, maxMs, and a factor above 0'
  END;
  IF problem IS NOT NULL THEN RAISE EXCEPTION '%', problem USING ERRCODE = 'PL001'; END IF;

  -- Lock the pace, and read the clock after that. An estimate without a turn changes nothing.
  IF octet_length(r.key) > 1000 THEN r.key := politely.short_key(r.key); END IF;
  IF op = 'estimate' AND r."takesTurn" IS NOT TRUE THEN
    SELECT * INTO p FROM politely.pace x WHERE x.key = r.key;
    IF NOT FOUND THEN p := (r.key, 0, 'own-delay', -1, 0, 0, 0, 0, 'backoff', -1, 0, NULL, NULL, NULL, 0); END IF;
  ELSE
    -- While the call waited, a dump may have been restored. Then the epoch is another one.
    LOOP
      SELECT * INTO p FROM politely.pace x
        WHERE x.key = r.key AND state.start = (SELECT e.start FROM politely.epoch e WHERE e.history <> 'restored') FOR UPDATE;
      EXIT WHEN FOUND;
      INSERT INTO politely.pace (key) VALUES (r.key) ON CONFLICT DO NOTHING;
      is_lost := is_lost OR state.is_lost;
      state := politely.enter_epoch(to_jsonb(r.now));
    END LOOP;
    state.is_lost := is_lost OR state.is_lost;
  END IF;
  now := coalesce(r.now, politely.clock());
  IF p.slots < 0 THEN p.slots := floor(now * 1000); END IF;
  -- The lock of the pace is the lock of these slots too.
  IF r.lease IS NOT NULL OR r."onceMs" IS NOT NULL OR op IN ('cancel', 'release', 'renew') THEN
    SELECT * INTO kept FROM politely.kept_slots x WHERE x.key = r.key;
    kept.leased := politely.still_kept(kept.leased, now);
    kept.reported := politely.still_kept(kept.reported, now);
  END IF;

  -- The pauses that the caller knows of, apart from those that Postgres learned of in this epoch.
  IF op IN ('reserve', 'pause') AND r."knownPauses" <> '[]' THEN
    FOR pause IN SELECT * FROM jsonb_populate_recordset(NULL::politely.known_pause, r."knownPauses") LOOP
      CONTINUE WHEN pause.epoch = state.start;
      p := politely.add_lasting_pause(p, now + pause.ms, pause.because);
      is_changed := true;
    END LOOP;
  END IF;
  IF op = 'reserve' AND r.slot IS NOT NULL THEN
    p := politely.return_slot(p, r.slot, now);
    is_changed := true;
    IF r.lease IS NOT NULL THEN
      kept.leased := politely.without_slot(kept.leased, r.slot);
      keeps_slots := true;
    END IF;
  END IF;
  -- The key is an origin whose circuit has failures: nothing more is done. Circuits expire by the
  -- clock of Postgres, also in a test with its own.
  IF op = 'reserve' AND r."ifClear" AND EXISTS (
    SELECT FROM politely.circuit x WHERE x.origin = r.key AND x.value <> '' AND x.keep_until > politely.clock()
  ) THEN
    op := 'none';
    reply := '{"kind": "failures"}';
  END IF;

  -- The slots that the caller believes to be under way, and that are not.
  IF op = 'reserve' AND r.lease IS NOT NULL THEN
    ended := (SELECT jsonb_agg(one ORDER BY n) FROM jsonb_array_elements(lease.open) WITH ORDINALITY AS u (one, n)
      WHERE NOT politely.is_kept(kept.leased, one::float8));
  END IF;

  -- A visit at the start of the epoch, in place of a visit that Postgres may have lost. It is the
  -- worst case: its request started an allowance later, its response was slow, and it may still be
  -- under way.
  IF op IN ('reserve', 'estimate') AND p.epoch <> state.start THEN
    DECLARE
      before politely.pace := p;
    BEGIN
      p := politely.take_slot(p, state.start, politely.delay_of(l, state.start, CASE WHEN l."delayFactor" > 0 THEN 'Infinity'::float8 ELSE 0 END),
        l."pauseFrom", coalesce(r."maxAllowanceMs", 0));
      p.slots := before.slots;
      IF p.under_way_until IS NULL THEN
        p.under_way_until := before.under_way_until;
      END IF;
    END;
  END IF;

  IF op = 'reserve' OR op = 'estimate' THEN
    slot := politely.next_slot(p, l, now);
    delay := politely.delay_of(l, now, 0);
    -- A worker without a turn leaves a free slot to the worker that has waited for it.
    IF op = 'reserve' AND slot.because = 'none' AND r."turnAt" IS NULL AND p.last_turn_at > now - coalesce(r."timerAllowanceMs", 0) THEN
      slot.because := delay.because;
    END IF;
  END IF;

  -- The worker may wait for a slot that is free in a moment with the slot reserved.
  IF op = 'reserve' AND slot.because <> 'none' AND slot.at - now <= soon_ms THEN
    is_soon := slot.at = p.next_slot_at AND slot.because NOT IN ('retry-after', 'backoff', 'rate-limit')
      AND now >= coalesce(p.under_way_until, now)
      AND (r."turnAt" IS NOT NULL OR p.last_turn_at <= now - coalesce(r."timerAllowanceMs", 0));
    IF is_soon THEN delay := politely.delay_of(l, slot.at, 0); END IF;
  END IF;

  IF slot.because <> 'none' AND NOT is_soon AND (op = 'reserve' OR r."takesTurn") THEN
    -- Workers that wait take turns. A turn reserves nothing: if its worker dies, one turn passes
    -- unused. Far from its turn, a worker gets another one, since the slot may have moved.
    IF r."turnAt" IS NOT NULL AND slot.at - now <= delay.ms / 2 THEN
      wait_at := slot.at;
      turn_at := r."turnAt";
      turn_before := coalesce(r."turnBefore", 0);
      step_ms := coalesce(r."turnStepMs", 0);
    ELSE
      turn_at := slot.at;
      turn_before := p.last_turn_at;
      step_ms := delay.ms + coalesce(r."allowanceMs", 0) + coalesce(r."allowedMs", 0) + coalesce(r."timerAllowanceMs", 0);
      IF r."turnAt" = p.last_turn_at THEN
        turn_before := coalesce(r."turnBefore", 0);
      ELSIF p.last_turn_at > now - coalesce(r."timerAllowanceMs", 0) THEN
        turn_at := greatest(turn_at, p.last_turn_at + step_ms);
      END IF;
      is_changed := is_changed OR p.last_turn_at <> turn_at;
      p.last_turn_at := turn_at;
      wait_at := turn_at;
    END IF;
    reply := jsonb_build_object('kind', 'wait', 'waitMs', wait_at - now, 'because', slot.because,
      'turn', jsonb_build_object('turnAt', turn_at, 'turnBefore', turn_before, 'turnStepMs', step_ms));

  ELSIF op = 'reserve' AND cardinality(kept.leased) >= lease.max THEN
    wait_at := coalesce((SELECT min(x.until) FROM unnest(kept.leased) x), now + lease.ms);
    -- The other workers leave the next slot to a worker that has waited for long, until it calls
    -- again. Otherwise the worker whose request ends would take it each time.
    turn_at := coalesce(r."turnAt", now);
    IF now - turn_at >= 1000 THEN
      p.last_turn_at := greatest(p.last_turn_at, now + 250);
      is_changed := true;
    END IF;
    reply := jsonb_build_object('kind', 'full', 'waitMs', wait_at - now, 'since', turn_at);

  ELSIF op = 'reserve' THEN
    IF r."turnAt" = p.last_turn_at THEN p.last_turn_at := 0; END IF;
    -- Another program may send the request this much later.
    allowed_ms := CASE WHEN delay.ms > 0 THEN coalesce(r."allowedMs", 0) ELSE 0 END;
    p := politely.take_slot(p, slot.at, delay, l."pauseFrom", coalesce(r."allowanceMs", 0) + allowed_ms
      + CASE WHEN is_soon THEN coalesce(r."timerAllowanceMs", 0) ELSE 0 END);
    -- Until the worker says that the request was sent, it counts as under way.
    IF r."unsentMs" IS NOT NULL AND l."pauseFrom" IS DISTINCT FROM 'end' AND delay.ms > 0 THEN
      p.under_way_until := slot.at + r."unsentMs";
      p.under_way_ms := delay.ms;
      p.under_way_because := delay.because;
    END IF;
    p.epoch := state.start;
    is_changed := true;
    IF r.lease IS NOT NULL THEN
      kept.leased := kept.leased || (p.slots, now + lease.ms)::politely.timed_slot;
      keeps_slots := true;
    END IF;
    reply := jsonb_build_object('kind', 'slot', 'slot', p.slots,
      'delay', jsonb_build_object('delayMs', delay.ms, 'because', delay.because), 'hasPushbacks', p.pushbacks > 0);
    IF is_soon THEN reply := reply || jsonb_build_object('waitMs', slot.at - now); END IF;
    -- While other workers wait, the next request of this worker gets a turn. The turns of the others
    -- come first, and may be for an earlier time than their slots.
    IF r."takesTurn" AND delay.ms > 0 AND p.last_turn_at > now - coalesce(r."timerAllowanceMs", 0) THEN
      turn_before := p.last_turn_at;
      step_ms := delay.ms + coalesce(r."allowanceMs", 0) + coalesce(r."allowedMs", 0) + coalesce(r."timerAllowanceMs", 0);
      turn_at := greatest(turn_before + step_ms, p.next_slot_at + step_ms * greatest(1,
        floor((turn_before - greatest(coalesce(r."turnAt", slot.at), slot.at - step_ms)) / step_ms + 0.1)));
      p.last_turn_at := turn_at;
      reply := reply || jsonb_build_object('nextWaitMs', turn_at - now,
        'turn', jsonb_build_object('turnAt', turn_at, 'turnBefore', turn_before, 'turnStepMs', step_ms));
    END IF;

  ELSIF op = 'estimate' THEN
    wait_at := slot.at;
    FOR i IN 1 .. least(coalesce(r.ahead, 0), max_simulated_requests)::integer LOOP
      p := politely.take_slot(p, wait_at, politely.delay_of(l, wait_at, 0), 'start', 0);
      DECLARE
        further politely.slot := politely.next_slot(p, l, wait_at);
      BEGIN
        wait_at := further.at;
        IF further.because <> 'none' THEN slot.because := further.because; END IF;
      END;
    END LOOP;
    IF r.ahead > max_simulated_requests THEN
      delay := politely.delay_of(l, wait_at, 0);
      wait_at := wait_at + (r.ahead - max_simulated_requests) * delay.ms;
    END IF;
    reply := jsonb_build_object('kind', 'estimate', 'waitMs', wait_at - now, 'because', slot.because);

  ELSIF op = 'cancel' THEN
    p := politely.return_slot(p, r.slot, now);
    is_changed := true;
    keeps_slots := politely.is_kept(kept.leased, r.slot);
    kept.leased := politely.without_slot(kept.leased, r.slot);

  ELSIF op = 'release' THEN
    keeps_slots := politely.is_kept(kept.leased, r.slot);
    kept.leased := politely.without_slot(kept.leased, r.slot);

  ELSIF op = 'renew' THEN
    keeps_slots := politely.is_kept(kept.leased, r.slot);
    IF keeps_slots THEN
      kept.leased := politely.without_slot(kept.leased, r.slot) || (r.slot, now + r."leaseMs")::politely.timed_slot;
      reply := '{"kind": "renewed"}';
    END IF;

  ELSIF op = 'cancelWait' THEN
    -- Gives up a turn. If it is not the last turn, the next worker to arrive also gets the last
    -- turn, so that there are no more turns than waiting workers.
    is_changed := true;
    IF r."turnAt" = p.last_turn_at THEN p.last_turn_at := r."turnBefore";
    ELSIF r."turnAt" > now THEN p.last_turn_at := greatest(p.last_turn_at - r."turnStepMs", now);
    ELSE is_changed := false;
    END IF;

  ELSIF op = 'sent' THEN
    is_changed := true;
    IF r.slot = p.slots AND r."agoMs" IS NULL THEN p.under_way_until := NULL; END IF;
    IF r.delay IS NOT NULL THEN
      p := politely.add_lasting_pause(p, now - coalesce(r."agoMs", 0) + sent_delay."delayMs", sent_delay.because);
    END IF;
    -- The rest of the allowance of the last slot is given up.
    IF r.slot = p.slots AND r."agoMs" IS NOT NULL THEN
      p.next_slot_at := p.lasting_until;
      p.because := p.lasting_because;
    END IF;

  ELSIF op = 'end' THEN
    is_changed := true;
    wait_at := CASE WHEN l."pauseFrom" = 'end' THEN now ELSE now - coalesce(r."tookMs", 0) END;
    IF r.slot = p.slots THEN p.under_way_until := NULL; END IF;
    delay := politely.delay_of(l, wait_at, coalesce(r."tookMs", 0));
    p := politely.add_lasting_pause(p, wait_at + delay.ms, delay.because);

  ELSIF op = 'report' THEN
    -- A request that started before the last pushback came says nothing new. Only its Retry-After
    -- counts.
    is_old := p.pushbacks > 0 AND r.slot <= p.slots_at_pushback;
    IF r.pushback IS NOT NULL AND r."onceMs" IS NOT NULL THEN
      is_repeated := politely.is_kept(kept.reported, r.slot);
      keeps_slots := NOT is_repeated;
      IF keeps_slots THEN kept.reported := kept.reported || (r.slot, now + r."onceMs")::politely.timed_slot; END IF;
    END IF;
    IF r.pushback IS NULL THEN
      is_changed := p.pushbacks > 0 AND NOT is_old;
      IF is_changed THEN p.pushbacks := 0; END IF;
    ELSIF NOT is_repeated THEN
      is_changed := true;
      IF pushback."requestedMs" IS NOT NULL THEN
        p := politely.add_lasting_pause(p, now + pushback."requestedMs", 'retry-after');
      ELSIF NOT is_old THEN
        p := politely.add_lasting_pause(p, now + politely.backoff_ms(pushback.backoff, p.pushbacks), 'backoff');
      END IF;
      IF NOT is_old THEN
        p.pushbacks := p.pushbacks + 1;
        p.slots_at_pushback := p.slots;
        p.max_backoff_ms := (pushback.backoff)."maxMs";
      END IF;
    END IF;
    IF is_changed OR is_repeated THEN
      reply := jsonb_build_object('kind', 'pause', 'pauseMs', greatest(p.lasting_until - now, 0), 'because', p.lasting_because);
    END IF;
  END IF;

  -- Save the pace. It may be deleted a minute after it can be forgotten, so that a site with a
  -- short delay keeps its row. With a given time it stays an hour longer, since the clock of a test
  -- may stand still.
  IF is_changed THEN
    UPDATE politely.pace x SET next_slot_at = p.next_slot_at, because = p.because, slots = p.slots, pushbacks = p.pushbacks,
      slots_at_pushback = p.slots_at_pushback, max_backoff_ms = p.max_backoff_ms, lasting_until = p.lasting_until,
      lasting_because = p.lasting_because, epoch = p.epoch, last_turn_at = p.last_turn_at,
      under_way_until = p.under_way_until, under_way_ms = p.under_way_ms, under_way_because = p.under_way_because,
      keep_until = greatest(politely.can_forget_at(p) - now, p.last_turn_at - now, 0)
        + CASE WHEN r.now IS NULL THEN now + 60000 ELSE politely.clock() + 3600000 END
      WHERE x.key = p.key;
  END IF;
  IF keeps_slots THEN
    kept.keep_until := (SELECT coalesce(max(x.until), 0) FROM unnest(kept.leased || kept.reported) x);
    IF r.now IS NOT NULL THEN kept.keep_until := politely.clock() + 3600000; END IF;
    INSERT INTO politely.kept_slots AS x VALUES (r.key, kept.leased, kept.reported, kept.keep_until)
      ON CONFLICT (key) DO UPDATE SET leased = excluded.leased, reported = excluded.reported, keep_until = excluded.keep_until;
  END IF;
  IF ended IS NOT NULL THEN reply := reply || jsonb_build_object('ended', ended); END IF;
  RETURN reply || jsonb_build_object('epoch', state.start, 'isEpochLost', state.is_lost);
END $$;

-- The pause after a pushback that does not say how long to wait.
CREATE OR REPLACE FUNCTION politely.backoff_ms(backoff politely.backoff, pushbacks integer) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  growth float8 := pushbacks * ln(backoff.factor);
BEGIN
  -- A double that is too large or too small is an error in Postgres.
  IF growth > 600 THEN RETURN backoff."maxMs"; END IF;
  IF growth < -600 THEN RETURN 0; END IF;
  RETURN least(backoff."firstMs" * backoff.factor ^ pushbacks, backoff."maxMs");
END $$;

-- Deletes expired rows of one table: at most 500 in a step, along its primary key. The call that
-- finds the last step old makes the next step, at its own end. It waits for no lock, and skips rows
-- that another call uses. Steps come soon one after the other while there is something to do.
CREATE OR REPLACE FUNCTION politely.sweep_step(swept_table text, key_column text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  rows_in_step constant integer := 500;
  now float8 := politely.clock();
  after_key text;
  seen integer;
  deleted integer;
BEGIN
  SELECT s.after INTO after_key FROM politely.sweep s WHERE s.swept = swept_table AND s.due <= now FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    INSERT INTO politely.sweep VALUES (swept_table, now, '') ON CONFLICT DO NOTHING;
    RETURN;
  END IF;
  EXECUTE format('
    WITH step AS MATERIALIZED (SELECT x.%1$I AS key, x.keep_until FROM politely.%2$I x WHERE x.%1$I > $1 ORDER BY x.%1$I LIMIT $2),
      expired AS MATERIALIZED (SELECT x.%1$I AS key FROM politely.%2$I x
        WHERE x.%1$I = ANY (ARRAY(SELECT key FROM step WHERE keep_until <= $3)) AND x.keep_until <= $3 FOR UPDATE SKIP LOCKED),
      gone AS (DELETE FROM politely.%2$I x USING expired WHERE x.%1$I = expired.key RETURNING 1)
    SELECT max(key), count(*), (SELECT count(*) FROM gone) FROM step', key_column, swept_table)
    INTO after_key, seen, deleted USING after_key, rows_in_step, now;
  UPDATE politely.sweep s SET after = CASE WHEN seen < rows_in_step THEN '' ELSE after_key END,
    due = now + CASE WHEN seen < rows_in_step AND deleted = 0 THEN 1000 ELSE 20 END
    WHERE s.swept = swept_table;
END $$;

CREATE OR REPLACE FUNCTION politely.sweep_paces() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM politely.sweep_step('pace', 'key');
  PERFORM politely.sweep_step('kept_slots', 'key');
END $$;

-- Reads the circuit of an origin. If the caller gives the `next` value, stores it, unless the
-- present value is no longer the `value` that the caller has read.
CREATE OR REPLACE FUNCTION politely.apply_circuit(request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  asked text := request ->> 'origin';
  next_value text := request ->> 'next';
  keep_ms politely.ms;
  given_now politely.ms;
  c politely.circuit;
  now float8;
  present text := '';
  is_stored boolean := false;
BEGIN
  BEGIN
    keep_ms := request ->> 'keepMs';
    given_now := request ->> 'now';
  EXCEPTION WHEN data_exception OR integrity_constraint_violation THEN
    RAISE EXCEPTION 'keepMs, now: expected numbers from 0 to 1e18' USING ERRCODE = 'PL001';
  END;
  IF given_now IS NOT NULL THEN PERFORM politely.check_owner(); END IF;
  IF asked IS NULL OR next_value IS NOT NULL AND keep_ms IS NULL THEN
    RAISE EXCEPTION 'expected an origin, and keepMs with next' USING ERRCODE = 'PL001';
  END IF;
  asked := politely.short_key(asked);
  LOOP
    IF next_value IS NULL THEN
      SELECT * INTO c FROM politely.circuit x WHERE x.origin = asked;
      EXIT;
    END IF;
    SELECT * INTO c FROM politely.circuit x WHERE x.origin = asked FOR UPDATE;
    EXIT WHEN FOUND;
    INSERT INTO politely.circuit VALUES (asked, '', 0) ON CONFLICT DO NOTHING;
  END LOOP;
  now := coalesce(given_now, politely.clock());
  IF c.keep_until > now THEN present := c.value; END IF;
  IF present = coalesce(request ->> 'value', '') AND next_value IS NOT NULL THEN
    UPDATE politely.circuit x SET value = next_value, keep_until = now + keep_ms WHERE x.origin = asked;
    is_stored := true;
    present := next_value;
  END IF;
  RETURN jsonb_build_object('isStored', is_stored, 'value', present, 'now', now);
END $$;

-- Makes one call. One call in 50 also looks whether a step of the sweep is due, but no call with a
-- given time.
CREATE OR REPLACE FUNCTION politely.call(op text, request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  state politely.epoch_state := politely.enter_epoch(request -> 'now');
  reply jsonb := politely.apply(op, request, state);
BEGIN
  IF random() < 0.02 AND NOT request ? 'now' THEN PERFORM politely.sweep_paces(); END IF;
  RETURN reply;
END $$;

-- The store: robots.txt files and leases ---------------------------------------------------------

-- Reads the fields of a request of the store: their types, and which ones are missing.
CREATE OR REPLACE FUNCTION politely.store_request(request jsonb, VARIADIC required text[]) RETURNS politely.store_request LANGUAGE plpgsql AS $$
DECLARE
  r politely.store_request;
  missing text := (SELECT string_agg(field, ', ') FROM unnest(required) field WHERE request ->> field IS NULL);
BEGIN
  IF missing IS NOT NULL THEN RAISE EXCEPTION '% is missing', missing USING ERRCODE = 'PL001'; END IF;
  BEGIN
    r := jsonb_populate_record(NULL::politely.store_request, request);
  EXCEPTION WHEN data_exception OR integrity_constraint_violation THEN
    RAISE EXCEPTION '%', coalesce(politely.problem_in('', NULL::politely.store_request, request), sqlerrm) USING ERRCODE = 'PL001';
  END;
  IF r.now IS NOT NULL THEN PERFORM politely.check_owner(); END IF;
  r.origin := politely.short_key(r.origin);
  RETURN r;
END $$;

-- The public functions --------------------------------------------------------------------------
--
-- They run with the rights of the owner, so a worker needs no right on a table. They set the search
-- path, so that a caller cannot replace a function or an operator that they use, the digits of
-- doubles, so that replies and slot numbers are exact, and the longest wait for a lock, in
-- milliseconds, so that a session that keeps one does not hold up a caller for long.

-- Takes the next slot of a key if it is free: `slot`. Otherwise says when to ask again: `wait`.
CREATE OR REPLACE FUNCTION politely.reserve(request jsonb) RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET lock_timeout = 500 AS $$
BEGIN
  RETURN politely.call('reserve', request);
END $$;

-- Says how long a request would wait behind `ahead` others. With `takesTurn`, it takes a turn.
CREATE OR REPLACE FUNCTION politely.estimate(request jsonb) RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET lock_timeout = 500 AS $$
BEGIN
  RETURN politely.call('estimate', request);
END $$;

-- Tells what a response says of the pace: a pushback such as 429, or none.
CREATE OR REPLACE FUNCTION politely.report(request jsonb) RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET lock_timeout = 500 AS $$
BEGIN
  RETURN politely.call('report', request);
END $$;

-- Makes a key wait: `knownPauses`.
CREATE OR REPLACE FUNCTION politely.pause(request jsonb) RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET lock_timeout = 500 AS $$
BEGIN
  RETURN politely.call('pause', request);
END $$;

-- Tells that a request was sent: its delay begins now, or `agoMs` ago.
CREATE OR REPLACE FUNCTION politely.sent(request jsonb) RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET lock_timeout = 500 AS $$
BEGIN
  RETURN politely.call('sent', request);
END $$;

-- Gives back a slot whose request was not sent.
CREATE OR REPLACE FUNCTION politely.cancel(request jsonb) RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET lock_timeout = 500 AS $$
BEGIN
  RETURN politely.call('cancel', request);
END $$;

-- Gives up a turn.
CREATE OR REPLACE FUNCTION politely.cancel_wait(request jsonb) RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET lock_timeout = 500 AS $$
BEGIN
  RETURN politely.call('cancelWait', request);
END $$;

-- Tells that a request has ended, for limits with `pauseFrom` or `delayFactor`.
CREATE OR REPLACE FUNCTION politely.end_request(request jsonb) RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET lock_timeout = 500 AS $$
BEGIN
  RETURN politely.call('end', request);
END $$;

-- Tells that a request has ended, so that it no longer counts as under way. For any request with a
-- `lease`, whichever worker made it.
CREATE OR REPLACE FUNCTION politely.release_slot(request jsonb) RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET lock_timeout = 500 AS $$
BEGIN
  RETURN politely.call('release', request);
END $$;

-- Lets the lease of a request end after `leaseMs`: `renewed`. If it was over: `done`.
CREATE OR REPLACE FUNCTION politely.renew_slot(request jsonb) RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET lock_timeout = 500 AS $$
BEGIN
  RETURN politely.call('renew', request);
END $$;

-- Reads or changes the circuit of an origin.
CREATE OR REPLACE FUNCTION politely.circuit(request jsonb) RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET lock_timeout = 500 AS $$
DECLARE
  reply jsonb := politely.apply_circuit(request);
BEGIN
  IF reply @> '{"isStored": true}' AND NOT request ? 'now' THEN PERFORM politely.sweep_step('circuit', 'origin'); END IF;
  RETURN reply;
END $$;

-- Makes several calls in one transaction. `op` in each request is the name of the call: `reserve`,
-- `estimate`, `report`, `pause`, `sent`, `cancel`, `cancelWait`, `end`, `release`, `renew` or
-- `circuit`. The calls run
-- in the order of their keys, so that two transactions cannot wait for each other. Calls with equal
-- keys keep their order. The replies come in the order of the requests.
CREATE OR REPLACE FUNCTION politely.call_many(requests jsonb[]) RETURNS jsonb[] LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET lock_timeout = 500 AS $$
DECLARE
  operations constant text[] := '{reserve,estimate,report,pause,sent,cancel,cancelWait,end,release,renew,circuit}';
  given_now jsonb := (SELECT one -> 'now' FROM unnest(requests) one WHERE one -> 'now' <> 'null' LIMIT 1);
  state politely.epoch_state := politely.enter_epoch(given_now);
  replies jsonb[] := array_fill(NULL::jsonb, ARRAY[coalesce(cardinality(requests), 0)]);
  next record;
  stores_circuit boolean := false;
BEGIN
  IF requests IS NULL THEN RAISE EXCEPTION 'expected a list of requests' USING ERRCODE = 'PL001'; END IF;
  FOR next IN
    SELECT one, one ->> 'op' AS op, n FROM unnest(requests) WITH ORDINALITY AS u (one, n)
      ORDER BY one ->> 'op' = 'circuit', coalesce(one ->> 'key', one ->> 'origin') COLLATE "C", n
  LOOP
    IF next.op = ANY (operations) IS NOT TRUE THEN
      RAISE EXCEPTION 'op: % is unknown; expected one of %', next.op, array_to_string(operations, ', ') USING ERRCODE = 'PL001';
    END IF;
    replies[next.n] := CASE next.op WHEN 'circuit' THEN politely.apply_circuit(next.one) ELSE politely.apply(next.op, next.one, state) END;
    stores_circuit := stores_circuit OR replies[next.n] @> '{"isStored": true}';
  END LOOP;
  -- The sweep locks rows in no order, so it comes last.
  IF given_now IS NULL AND random() < 0.02 * cardinality(requests) THEN PERFORM politely.sweep_paces(); END IF;
  IF given_now IS NULL AND stores_circuit THEN PERFORM politely.sweep_step('circuit', 'origin'); END IF;
  RETURN replies;
END $$;

-- The same for requests with fields that earlier versions of the schema ignore: there, this function
-- is missing.
CREATE OR REPLACE FUNCTION politely.call_many(requests jsonb[], version integer) RETURNS jsonb[] LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET lock_timeout = 500 AS $$
BEGIN
  IF version > (SELECT v.version FROM politely.version v) THEN
    RAISE EXCEPTION 'the schema is older than version %', version USING ERRCODE = 'undefined_function';
  END IF;
  RETURN politely.call_many(requests);
END $$;

-- Makes several calls of `reserve` in one transaction.
CREATE OR REPLACE FUNCTION politely.reserve_many(requests jsonb[]) RETURNS jsonb[] LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET lock_timeout = 500 AS $$
BEGIN
  RETURN politely.call_many(CASE WHEN requests IS NOT NULL THEN
    ARRAY(SELECT one || '{"op": "reserve"}' FROM unnest(requests) WITH ORDINALITY AS u (one, n) ORDER BY n) END);
END $$;

-- Returns the text of an origin, or null.
CREATE OR REPLACE FUNCTION politely.robots_get(request jsonb) RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET lock_timeout = 500 AS $$
DECLARE
  r politely.store_request := politely.store_request(request, 'origin');
BEGIN
  RETURN jsonb_build_object('text', (SELECT x.text FROM politely.robots x
    WHERE x.origin = r.origin AND x.keep_until > coalesce(r.now, politely.clock())));
END $$;

-- Keeps a text until `keepUntil`, in milliseconds since 1970.
CREATE OR REPLACE FUNCTION politely.robots_set(request jsonb) RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET lock_timeout = 500 AS $$
DECLARE
  r politely.store_request := politely.store_request(request, 'origin', 'text', 'keepUntil');
BEGIN
  INSERT INTO politely.robots AS x VALUES (r.origin, r.text, r."keepUntil")
    ON CONFLICT (origin) DO UPDATE SET text = excluded.text, keep_until = excluded.keep_until;
  IF r.now IS NULL THEN PERFORM politely.sweep_step('robots', 'origin'); END IF;
  RETURN '{"kind": "done"}';
END $$;

CREATE OR REPLACE FUNCTION politely.robots_delete(request jsonb) RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET lock_timeout = 500 AS $$
DECLARE
  r politely.store_request := politely.store_request(request, 'origin');
BEGIN
  DELETE FROM politely.robots x WHERE x.origin = r.origin;
  RETURN '{"kind": "done"}';
END $$;

-- Takes the lease of an origin for `leaseMs`, if no other token holds it. So one worker at a time
-- fetches a robots.txt.
CREATE OR REPLACE FUNCTION politely.lease(request jsonb) RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET lock_timeout = 500 AS $$
DECLARE
  r politely.store_request := politely.store_request(request, 'origin', 'token', 'leaseMs');
  is_leased boolean;
BEGIN
  -- The clock is read after the row is locked.
  INSERT INTO politely.lease AS x VALUES (r.origin, r.token, politely.clock() + r."leaseMs")
    ON CONFLICT (origin) DO UPDATE SET token = excluded.token, keep_until = politely.clock() + r."leaseMs"
    WHERE x.keep_until <= politely.clock() OR x.token = excluded.token;
  is_leased := FOUND;
  PERFORM politely.sweep_step('lease', 'origin');
  RETURN jsonb_build_object('isLeased', is_leased);
END $$;

-- Gives up a lease, if the token still holds it.
CREATE OR REPLACE FUNCTION politely.release(request jsonb) RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET lock_timeout = 500 AS $$
DECLARE
  r politely.store_request := politely.store_request(request, 'origin', 'token');
BEGIN
  DELETE FROM politely.lease x WHERE x.origin = r.origin AND x.token = r.token;
  RETURN jsonb_build_object('isReleased', FOUND);
END $$;

-- Rights ----------------------------------------------------------------------------------------

FOR one IN SELECT f.oid FROM pg_proc f WHERE f.pronamespace = 'politely'::regnamespace AND f.oid <> ALL (functions_before) LOOP
  EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', one::regprocedure);
END LOOP;
IF worker IS NOT NULL THEN
  EXECUTE format('GRANT USAGE ON SCHEMA politely TO %I', worker);
  FOR one IN SELECT f.oid FROM pg_proc f
    WHERE f.pronamespace = 'politely'::regnamespace AND f.proname = ANY (worker_functions) AND f.prosecdef
  LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', one::regprocedure, worker);
  END LOOP;
END IF;
PERFORM set_config('search_path', path_before, true);
END $politely$;
