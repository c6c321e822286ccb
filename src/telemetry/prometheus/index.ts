export {
  type PrometheusOptions,
  PrometheusTelemetry,
  type PrometheusTelemetrySource,
} from './prometheus-telemetry.js';
