import {
  type Measure,
  type Metric,
  type NewSpan,
  Telemetry,
  type TelemetrySpan,
} from '../../../src/common/telemetry/telemetry.js';

/** A measure or a span, with all its contents. */
export type Recorded = readonly string[];

/** Records each different measure and span once, whatever its value is. */
export class RecordingTelemetry extends Telemetry {
  private readonly seen = new Set<string>();
  private spans = 0;

  /** @param onRecorded gets the name, then all labels or attributes */
  constructor(private readonly onRecorded: (recorded: Recorded) => void) {
    super();
  }

  override counter({ name }: Metric): Measure {
    return this.measure(name);
  }

  override histogram({ name }: Metric): Measure {
    return this.measure(name);
  }

  override gauge({ name }: Metric, read: (observe: Measure) => void): void {
    read(this.measure(name));
  }

  override span(name: string, { attributes = {}, links = [] }: NewSpan): TelemetrySpan {
    const id = (++this.spans).toString(16).padStart(16, '0');
    const said = Object.entries(attributes).map(([key, value]) => `${key}=${value}`);
    this.record([name, ...said, ...links.map(() => 'linked')]);
    return {
      // Carriers and endpoints receive the same as without telemetry.
      traceparent: name === 'messaging.accept' ? `00-0af7651916cd43dd8448eb211c80319c-${id}-01` : undefined,
      isRecorded: true,
      end: (error) => this.record([name, 'ended', error ?? '']),
    };
  }

  private measure(name: string): Measure {
    return (_, ...labels) => this.record([name, ...labels.flatMap((label) => label ?? [])]);
  }

  private record(recorded: Recorded): void {
    const key = recorded.join(' ');
    if (this.seen.has(key)) return;
    this.seen.add(key);
    this.onRecorded(recorded);
  }
}
