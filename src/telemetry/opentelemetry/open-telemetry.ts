import type { OnApplicationShutdown } from '@nestjs/common';
import type {
  Attributes,
  BatchObservableCallback,
  Link,
  Meter,
  MeterProvider,
  Observable,
  Span,
  SpanContext,
  SpanOptions,
  Tracer,
  TracerProvider,
} from '@opentelemetry/api';
import { loadPeer } from '../../common/load-peer.js';
import { any, boolean, group, OptionPlace, type OptionsOf } from '../../common/options.js';
import { SeriesTable } from '../../common/series-table.js';
import {
  type HistogramMetric,
  type Measure,
  type Metric,
  type NewSpan,
  NO_SPAN,
  type SpanKind,
  Telemetry,
  type TelemetrySpan,
} from '../../common/telemetry/telemetry.js';
import { ACCOUNTS_OPTION } from '../../common/telemetry/telemetry-options.js';
import { VERSION } from '../../common/version.js';

/** Options of {@link OpenTelemetry}. */
export interface OpenTelemetryOptions {
  /** Default: the global one. */
  readonly meterProvider?: MeterProvider | undefined;
  /** Default: the global one. */
  readonly tracerProvider?: TracerProvider | undefined;
  /** False: no metrics, for example because Prometheus is used for them. Default true. */
  readonly metrics?: boolean | undefined;
  /** False: no traces. Default true. */
  readonly traces?: boolean | undefined;
  /** Accounts whose units are counted under their ids, at most 32. Default: none, all are counted together. */
  readonly accounts?: readonly string[] | undefined;
}

/** @param has the method that identifies a provider */
function provider<P>(has: string) {
  return any((given, place): P => {
    if (typeof Object(given)[has] === 'function') return given as P;
    return place.refuse(`must be a provider of OpenTelemetry, with a method ${has}`);
  }).or(undefined);
}

const OPTIONS = {
  meterProvider: provider<MeterProvider>('getMeter'),
  tracerProvider: provider<TracerProvider>('getTracer'),
  metrics: boolean.or(true),
  traces: boolean.or(true),
  accounts: ACCOUNTS_OPTION,
} satisfies OptionsOf<OpenTelemetryOptions>;

type Library = typeof import('@opentelemetry/api');

/** The value of the option `telemetry` that `OpenTelemetry.forRoot` returns. */
export interface OpenTelemetrySource {
  readonly useFactory: () => Promise<OpenTelemetry>;
}

const NAME = 'nestjs-messaging';

/**
 * Metrics and traces for OpenTelemetry. It uses only `@opentelemetry/api`, an optional peer dependency; the host chooses the SDK
 * and the exporters.
 *
 * @example
 * ```ts
 * MessagingModule.forRoot({ telemetry: OpenTelemetry.forRoot() });
 * ```
 */
export class OpenTelemetry extends Telemetry implements OnApplicationShutdown {
  override readonly traces: boolean;
  private readonly kinds: Readonly<Record<SpanKind, NonNullable<SpanOptions['kind']>>>;
  private readonly observed: (readonly [BatchObservableCallback, Observable])[] = [];

  /**
   * The value of the option `telemetry`.
   * @throws MessagingOptionsError with a sentence that names the wrong option
   */
  static forRoot(options: OpenTelemetryOptions = {}): OpenTelemetrySource {
    const place = new OptionPlace('', (path) => `OpenTelemetry: ${path === '' ? 'the options' : path}`);
    const { meterProvider, tracerProvider, metrics, traces, accounts } = group(OPTIONS).read(options, place);
    return {
      useFactory: async () => {
        const api = await loadPeer('OpenTelemetry', '@opentelemetry/api', () => import('@opentelemetry/api'));
        const meter = metrics ? (meterProvider ?? api.metrics).getMeter(NAME, VERSION) : api.createNoopMeter();
        const tracer = traces ? (tracerProvider ?? api.trace).getTracer(NAME, VERSION) : undefined;
        return new OpenTelemetry(api, meter, tracer, accounts);
      },
    };
  }

  private constructor(
    private readonly api: Library,
    private readonly meter: Meter,
    private readonly tracer: Tracer | undefined,
    override readonly accounts: readonly string[],
  ) {
    super();
    this.traces = tracer !== undefined;
    const { INTERNAL: internal, PRODUCER: producer, CONSUMER: consumer, CLIENT: client } = api.SpanKind;
    this.kinds = { internal, producer, consumer, client };
  }

  /** Uses an observable counter, so that counting costs one addition and no look-up of attributes. */
  override counter(metric: Metric): Measure {
    const counter = this.meter.createObservableCounter(metric.name, described(metric));
    const series = new SeriesTable(metric.labels, (attributes) => ({ attributes, total: 0 }));
    this.observe(counter, (result) => {
      for (const { series: each } of series.all()) result.observe(counter, each.total, each.attributes);
    });
    return (value, first, second, third) => {
      series.of(first, second, third).total += value;
    };
  }

  override histogram(metric: HistogramMetric): Measure {
    const advice = { explicitBucketBoundaries: [...metric.buckets] };
    const histogram = this.meter.createHistogram(metric.name, { ...described(metric), advice });
    const attributes = new SeriesTable<Attributes>(metric.labels, (labels) => labels);
    return (value, first, second, third) => histogram.record(value, attributes.of(first, second, third));
  }

  override gauge(metric: Metric, read: (observe: Measure) => void): void {
    const gauge = this.meter.createObservableGauge(metric.name, described(metric));
    const attributes = new SeriesTable<Attributes>(metric.labels, (labels) => labels);
    this.observe(gauge, (result) => {
      read((value, first, second, third) => result.observe(gauge, value, attributes.of(first, second, third)));
    });
  }

  private observe(observable: Observable, callback: BatchObservableCallback): void {
    this.meter.addBatchObservableCallback(callback, [observable]);
    this.observed.push([callback, observable]);
  }

  override span(
    name: string,
    { kind, links = [], isChild = false, startedAt, attributes = {} }: NewSpan,
  ): TelemetrySpan {
    const { api, tracer } = this;
    if (!tracer) return NO_SPAN;
    const wanted: SpanOptions = { kind: this.kinds[kind], attributes, root: !isChild };
    if (links.length > 0) wanted.links = links.flatMap(linkTo);
    if (startedAt !== undefined) wanted.startTime = startedAt;
    return new OpenTelemetrySpan(api, tracer.startSpan(name, wanted, api.context.active()));
  }

  /** Removes the callbacks, because the meter outlives the application and would read values that no longer exist. */
  onApplicationShutdown(): void {
    for (const [callback, observable] of this.observed.splice(0))
      this.meter.removeBatchObservableCallback(callback, [observable]);
  }
}

class OpenTelemetrySpan implements TelemetrySpan {
  constructor(
    private readonly api: Library,
    private readonly span: Span,
  ) {}

  get traceparent(): string | undefined {
    const context = this.span.spanContext();
    return this.api.isSpanContextValid(context) ? traceparentOf(context) : undefined;
  }

  get isRecorded(): boolean {
    const { span, api } = this;
    return span.isRecording() && (span.spanContext().traceFlags & api.TraceFlags.SAMPLED) !== 0;
  }

  end(error?: string): void {
    const { span, api } = this;
    if (error !== undefined) {
      span.setStatus({ code: api.SpanStatusCode.ERROR });
      span.setAttribute('error.type', error);
    }
    span.end();
  }
}

/** W3C Trace Context, version 00. */
function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

function linkTo(traceparent: string): readonly Link[] {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return [];
  return [{ context: { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true } }];
}

function described({ name, help }: Metric) {
  return { description: help, ...(/_seconds$/.test(name) ? { unit: 's' } : {}) };
}
