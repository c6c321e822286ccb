import { AsyncLocalStorage } from 'node:async_hooks';
import { type Context, type ContextManager, context, ROOT_CONTEXT } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { OpenTelemetry, type OpenTelemetryOptions } from '../../../src/telemetry/opentelemetry/index.js';

/** The part of a host's context manager that these tests need. */
class Contexts implements ContextManager {
  private readonly storage = new AsyncLocalStorage<Context>();

  active(): Context {
    return this.storage.getStore() ?? ROOT_CONTEXT;
  }

  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    active: Context,
    fn: F,
    thisArg?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.storage.run(active, () => fn.apply(thisArg, args));
  }

  bind<T>(_: Context, target: T): T {
    return target;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    return this;
  }
}

context.setGlobalContextManager(new Contexts());

/** A host's OpenTelemetry, in memory. */
export class InMemoryOtel {
  private readonly exporter = new InMemorySpanExporter();
  private readonly metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  private readonly reader = new PeriodicExportingMetricReader({
    exporter: this.metricExporter,
    exportIntervalMillis: 3_600_000,
  });
  readonly meterProvider = new MeterProvider({ readers: [this.reader] });
  readonly tracerProvider: BasicTracerProvider;

  constructor(sampler?: Sampler) {
    const spanProcessors = [new SimpleSpanProcessor(this.exporter)];
    this.tracerProvider = new BasicTracerProvider({ spanProcessors, ...(sampler && { sampler }) });
  }

  source(options: OpenTelemetryOptions = {}) {
    const { meterProvider, tracerProvider } = this;
    return OpenTelemetry.forRoot({ meterProvider, tracerProvider, ...options });
  }

  /** The ended spans of a name. */
  spans(name?: string): readonly ReadableSpan[] {
    return this.exporter.getFinishedSpans().filter((span) => name === undefined || span.name === name);
  }

  /** The current values of a metric, by their attributes as JSON. */
  async values(name: string): Promise<ReadonlyMap<string, unknown>> {
    const { resourceMetrics } = await this.reader.collect();
    const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
    const found = metrics.find(({ descriptor }) => descriptor.name === name);
    return new Map((found?.dataPoints ?? []).map(({ attributes, value }) => [JSON.stringify(attributes), value]));
  }

  async close(): Promise<void> {
    await this.meterProvider.shutdown();
    await this.tracerProvider.shutdown();
  }
}

/** A span as W3C `traceparent`. */
export function traceparentOf(span: ReadableSpan): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-0${traceFlags}`;
}
