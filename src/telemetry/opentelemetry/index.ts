export {
  OpenTelemetry,
  type OpenTelemetryOptions,
  type OpenTelemetrySource,
} from './open-telemetry.js';
