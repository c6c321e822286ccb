import { booleanIfAny, describePort, method, methodIfAny, objectIfAny } from '../port.js';

/** A thing that is counted or measured. */
export interface Metric {
  /** Begins with `messaging_` and ends with its unit; a counter's with `_total`. */
  readonly name: string;
  readonly help: string;
  /** The names of its labels, at most three. Their values are from closed lists, never of a caller. */
  readonly labels: readonly string[];
}

/** A metric whose values are counted in buckets. */
export interface HistogramMetric extends Metric {
  /** The upper bounds of the buckets, ascending. */
  readonly buckets: readonly number[];
}

/**
 * Adds to a counter, puts a value into a histogram, or gives the value of a gauge; the labels' values follow in the order of
 * `Metric.labels`. Not an object of labels, so that a call that measures nothing allocates nothing.
 */
export type Measure = (value: number, first?: string, second?: string, third?: string) => void;

/** What a span is about; the names of OpenTelemetry. */
export type SpanKind = 'internal' | 'producer' | 'consumer' | 'client';

export interface NewSpan {
  readonly kind: SpanKind;
  /** Spans that caused this one, as W3C `traceparent`: links, because a message may be delivered hours after its send. */
  readonly links?: readonly string[];
  /** True: a child of what the host is doing now. Default: a trace of its own. */
  readonly isChild?: boolean;
  /** When it began, milliseconds since the epoch. Default now. */
  readonly startedAt?: number;
  /** Never a text, a number, a code or a key. */
  readonly attributes?: Readonly<Record<string, string | number>>;
}

/** A step of the way of a message. */
export interface TelemetrySpan {
  /** The span as W3C `traceparent`, for a request that it makes; undefined where nothing traces. */
  readonly traceparent: string | undefined;
  /** Whether it will be exported. Only then something is linked to it. */
  readonly isRecorded: boolean;
  /** @param error why it failed, a short code */
  end(error?: string): void;
}

/** A page of metrics for a scraper. */
export interface Scrape {
  readonly contentType: string;
  readonly body: string;
}

/**
 * Where measures and spans go. By default nowhere. Its methods are called in the middle of sends and must return at once;
 * what they throw is caught and logged once a minute.
 */
export abstract class Telemetry {
  /** Accounts whose units are counted under their ids, at most 32; those of all others are counted together. */
  readonly accounts?: readonly string[];

  /** False: spans go nowhere, and nothing is done for them. Default true. */
  readonly traces?: boolean;

  /** Called once for each metric, when the application starts. */
  abstract counter(metric: Metric): Measure;

  /** As `counter`. */
  abstract histogram(metric: HistogramMetric): Measure;

  /** As `counter`. @param read gives the value of each series, from memory; to be called whenever the metrics are read */
  abstract gauge(metric: Metric, read: (observe: Measure) => void): void;

  abstract span(name: string, options: NewSpan): TelemetrySpan;

  /** All metrics from memory, where a scraper asks this process; without the method there is no route for it. */
  scrape?(): Promise<Scrape>;
}

describePort(Telemetry, {
  ...{ counter: method, histogram: method, gauge: method, span: method },
  ...{ scrape: methodIfAny, accounts: objectIfAny, traces: booleanIfAny },
});

const nothing: Measure = () => undefined;

/** The span that is none. */
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
