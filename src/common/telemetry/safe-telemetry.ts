import { Injectable } from '@nestjs/common';
import { Clock } from '../clock.js';
import { type FaultLog, faultCode, faultLog, nameOf } from '../log.js';
import {
  type HistogramMetric,
  type Measure,
  type Metric,
  type NewSpan,
  NO_SPAN,
  NoTelemetry,
  type Scrape,
  Telemetry,
  type TelemetrySpan,
} from './telemetry.js';

/** The telemetry that the module itself uses. It catches what the host's telemetry throws, so that no send fails because of it. */
@Injectable()
export class SafeTelemetry extends Telemetry {
  /** Whether the host has given a telemetry that measures or traces. */
  readonly isOn: boolean;
  override readonly traces: boolean;
  override readonly accounts: readonly string[];
  private readonly warnings: FaultLog;

  constructor(
    private readonly inner: Telemetry,
    clock: Clock,
  ) {
    super();
    this.accounts = inner.accounts ?? [];
    this.isOn = !(inner instanceof NoTelemetry);
    this.traces = this.isOn && inner.traces !== false;
    this.warnings = faultLog('Telemetry', clock);
  }

  /** @throws the error of the host's telemetry, so that a wrong metric stops the start */
  override counter(metric: Metric): Measure {
    return this.safely(this.inner.counter(metric));
  }

  /** As `counter`. */
  override histogram(metric: HistogramMetric): Measure {
    return this.safely(this.inner.histogram(metric));
  }

  /** As `counter`. */
  override gauge(metric: Metric, read: (observe: Measure) => void): void {
    this.inner.gauge(metric, (observe) => this.attempt(() => read(observe)));
  }

  override span(name: string, options: NewSpan): TelemetrySpan {
    if (!this.traces) return NO_SPAN;
    const span = this.attempt(() => this.inner.span(name, options));
    return span ? new SafeSpan(span, this.attempt) : NO_SPAN;
  }

  override async scrape(): Promise<Scrape> {
    return (await this.inner.scrape?.()) ?? { contentType: 'text/plain; charset=utf-8', body: '' };
  }

  private safely(measure: Measure): Measure {
    if (!this.isOn) return measure;
    return (value, first, second, third) => {
      try {
        measure(value, first, second, third);
      } catch (error) {
        this.warn(error);
      }
    };
  }

  private readonly attempt: Attempt = (task) => {
    try {
      return task();
    } catch (error) {
      this.warn(error);
      return undefined;
    }
  };

  private warn(error: unknown): void {
    this.warnings.warn(`The telemetry of the option telemetry threw ${nameOf(error)}; the work continues without it.`, {
      code: faultCode(error),
    });
  }
}

/** Runs a task and returns its result, or undefined if it throws. */
type Attempt = <T>(task: () => T) => T | undefined;

/**
 * Wraps a span of the host. It reads a property of the host's span only if the property is needed. For most sends, only
 * `isRecorded` is read, and it is false.
 */
class SafeSpan implements TelemetrySpan {
  constructor(
    private readonly inner: TelemetrySpan,
    private readonly attempt: Attempt,
  ) {}

  get traceparent(): string | undefined {
    return this.attempt(() => this.inner.traceparent);
  }

  get isRecorded(): boolean {
    return this.attempt(() => this.inner.isRecorded) === true;
  }

  end(error?: string): void {
    this.attempt(() => this.inner.end(error));
  }
}
