import { Injectable } from '@nestjs/common';
import { SafeTelemetry } from '../common/telemetry/safe-telemetry.js';
import type { Measure } from '../common/telemetry/telemetry.js';
import {
  histogramOf,
  type LabelValues,
  METRICS,
  type MetricDefinition,
  type MetricName,
  type MetricsOf,
  metricOf,
  OPEN_LABELS,
  OTHER,
} from './metrics.js';

/** Counts and measures under the names in `METRICS`. A label value that is in no list becomes `other`. */
@Injectable()
export class Instruments {
  private readonly known = new Map<string, Set<string>>();
  private readonly measures: ReadonlyMap<MetricName, Measure>;

  constructor(private readonly telemetry: SafeTelemetry) {
    const names = (Object.keys(METRICS) as MetricName[]).filter((name) => METRICS[name].kind !== 'gauge');
    this.measures = telemetry.isOn ? new Map(names.map((name) => [name, this.measureOf(name)])) : new Map();
  }

  /** Whether anything measures or traces. */
  get isOn(): boolean {
    return this.telemetry.isOn;
  }

  /** The label of an account: its id if the host's options name it, else empty. */
  accountOf(id: string): string {
    return this.telemetry.accounts.includes(id) ? id : '';
  }

  /** Adds to a counter, or puts a value into a histogram. */
  record(name: MetricsOf<'counter' | 'histogram'>, value: number, a?: string, b?: string, c?: string): void {
    this.measures.get(name)?.(value, a, b, c);
  }

  /** @param read reads the value of each series from memory */
  observe(name: MetricsOf<'gauge'>, read: (observe: Measure) => void): void {
    if (!this.isOn) return;
    const closed = this.closing(name);
    this.telemetry.gauge(metricOf(name), (observe) => read(closed(observe)));
  }

  private measureOf(name: MetricName): Measure {
    const { kind } = METRICS[name];
    const inner =
      kind === 'histogram'
        ? this.telemetry.histogram(histogramOf(name as MetricsOf<'histogram'>))
        : this.telemetry.counter(metricOf(name));
    return this.closing(name)(inner);
  }

  /**
   * Replaces every label value that is not in a closed list by `other`. So no phone number, id or text becomes a label,
   * and there are few series.
   */
  private closing(name: MetricName): (measure: Measure) => Measure {
    const { labels }: MetricDefinition = METRICS[name];
    const [first, second, third] = Object.values(labels).map((values) => this.listOf(values));
    return (measure) => (value, a, b, c) => measure(value, first?.(a), second?.(b), third?.(c));
  }

  private listOf(values: LabelValues): (value: string | undefined) => string {
    if (typeof values !== 'string') {
      const list = new Set(values);
      return (value = '') => (list.has(value) ? value : OTHER);
    }
    // One list for all metrics, so that a value has the same name in each of them.
    const known = this.known.get(values) ?? new Set();
    this.known.set(values, known);
    const { most } = OPEN_LABELS[values];
    return (value = OTHER) => {
      if (known.has(value)) return value;
      if (known.size >= most) return OTHER;
      known.add(value);
      return value;
    };
  }
}
