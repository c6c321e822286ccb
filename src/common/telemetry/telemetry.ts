import { booleanIfAny, describePort, method, methodIfAny, objectIfAny } from '../port.js';

/** Something that is counted or measured. */
export interface Metric {
  /** Begins with `messaging_` and ends with the unit. A counter's name ends with `_total`. */
  readonly name: string;
  readonly help: string;
  /** The names of its labels, at most three. Their values are from closed lists and never come from a caller. */
  readonly labels: readonly string[];
}

/** A metric whose values are counted in buckets. */
export interface HistogramMetric extends Metric {
  /** The upper bounds of the buckets, ascending. */
  readonly buckets: readonly number[];
}

/**
 * Adds to a counter, puts a value into a histogram, or gives the value of a gauge. The labels' values follow in the order of
 * `Metric.labels`. They are separate arguments instead of an object, so that a call allocates nothing.
 */
export type Measure = (value: number, first?: string, second?: string, third?: string) => void;

/** The kind of a span, with OpenTelemetry's names. */
export type SpanKind = 'internal' | 'producer' | 'consumer' | 'client';

/** A span that begins. */
export interface NewSpan {
  readonly kind: SpanKind;
  /** Spans that caused this one, as W3C `traceparent`. They are links, because a message may be delivered hours after its send. */
  readonly links?: readonly string[];
  /** True: the span is a child of the host's current span. Default: it begins a trace of its own. */
  readonly isChild?: boolean;
  /** When the span began, in milliseconds since the epoch. Default: now. */
  readonly startedAt?: number;
  /** The attributes of the span. They never contain a text, a number, a code or a key. */
  readonly attributes?: Readonly<Record<string, string | number>>;
}

/** A step in the delivery of a message, such as its send or its hand-over. */
export interface TelemetrySpan {
  /** The span as W3C `traceparent`, for a request that it makes; undefined if nothing traces. */
  readonly traceparent: string | undefined;
  /** Whether the span will be exported. Later spans are only linked to exported ones. */
  readonly isRecorded: boolean;
  /** @param error a short code of the reason why the step failed; undefined: it succeeded */
  end(error?: string): void;
}

/** A page of metrics for a scraper. */
export interface Scrape {
  readonly contentType: string;
  readonly body: string;
}

/**
 * Receives measures and spans. By default they go nowhere. Its methods are called in the middle of sends and must return at once.
 * What they throw is caught and logged once a minute.
 */
export abstract class Telemetry {
  /** Accounts whose units are counted under their ids, at most 32. The units of all others are counted together. */
  readonly accounts?: readonly string[];

  /** False: spans go nowhere, and nothing is done for them. Default true. */
  readonly traces?: boolean;

  /** Called once for each metric, when the application starts. */
  abstract counter(metric: Metric): Measure;

  /** As `counter`. */
  abstract histogram(metric: HistogramMetric): Measure;

  /** As `counter`. @param read reads the value of each series from memory. Call it whenever the metrics are read */
  abstract gauge(metric: Metric, read: (observe: Measure) => void): void;

  abstract span(name: string, options: NewSpan): TelemetrySpan;

  /** All metrics, from memory, for a scraper that asks this process. Without this method there is no route for scrapers. */
  scrape?(): Promise<Scrape>;
}

describePort(Telemetry, {
  counter: method,
  histogram: method,
  gauge: method,
  span: method,
  scrape: methodIfAny,
  accounts: objectIfAny,
  traces: booleanIfAny,
});

const nothing: Measure = () => undefined;

/** A span that records nothing. */
export const NO_SPAN: TelemetrySpan = { traceparent: undefined, isRecorded: false, end: () => undefined };

/** Measures and traces nothing. */
export class NoTelemetry extends Telemetry {
  override counter(_: Metric): Measure {
    return nothing;
  }

  override histogram(_: HistogramMetric): Measure {
    return nothing;
  }

  override gauge(_: Metric, __: (observe: Measure) => void): void {}

  override span(_: string, __: NewSpan): TelemetrySpan {
    return NO_SPAN;
  }
}
