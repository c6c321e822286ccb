import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, NoopSpanProcessor, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace-base';
import { OpenTelemetry } from 'nestjs-messaging/opentelemetry';
import { PrometheusTelemetry } from 'nestjs-messaging/prometheus';

/** The telemetry of a server under load; undefined: none. */
export type TelemetryKind = 'prometheus' | 'opentelemetry' | undefined;

/** The secret that scrapers send. */
export const METRICS_SECRET = 'Zb2mXq8vT4nK7pLw9sRd3fGh6jYc1uAe';

/** The option `telemetry`: Prometheus, or OpenTelemetry with metrics and a tenth of the traces. */
export function telemetryOf(kind: TelemetryKind) {
  if (kind === undefined) return {};
  if (kind === 'prometheus') return { telemetry: PrometheusTelemetry.forRoot({ route: { secret: METRICS_SECRET } }) };
  const exporter = new InMemoryMetricExporter(AggregationTemporality.DELTA);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 10_000 });
  const tracerProvider = new BasicTracerProvider({
    sampler: new TraceIdRatioBasedSampler(0.1),
    spanProcessors: [new NoopSpanProcessor()],
  });
  const meterProvider = new MeterProvider({ readers: [reader] });
  return { telemetry: OpenTelemetry.forRoot({ meterProvider, tracerProvider }) };
}
