import { SeriesTable } from '../../common/series-table.js';
import type { HistogramMetric, Measure } from '../../common/telemetry/telemetry.js';

/** The values of one line in the output of a `prom-client` registry. */
interface Line {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

interface Buckets {
  /** The count of each bucket, not cumulative. The last bucket has no upper bound. */
  readonly counts: number[];
  sum: number;
}

/**
 * A histogram that a registry of `prom-client` can read. The library's own takes about a microsecond for a value, and a send
 * records several values. This one only adds to a number, and the scrape computes the sums.
 */
export class BucketHistogram {
  readonly name: string;
  readonly help: string;
  readonly type = 'histogram';
  readonly aggregator = 'sum';
  private readonly bounds: readonly number[];
  private readonly series: SeriesTable<Buckets>;

  constructor({ name, help, labels, buckets }: HistogramMetric) {
    this.name = name;
    this.help = help;
    this.bounds = buckets;
    this.series = new SeriesTable(labels, () => ({ counts: [...buckets, 0].map(() => 0), sum: 0 }));
  }

  readonly observe: Measure = (value, first, second, third) => {
    const { bounds } = this;
    const series = this.series.of(first, second, third);
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket++;
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    series.sum += value;
  };

  async get() {
    const { name, help, type, aggregator } = this;
    return { name, help, type, aggregator, values: this.series.all().flatMap((each) => this.linesOf(each)) };
  }

  /** Sets all values to zero. `Registry.resetMetrics` calls it. */
  reset(): void {
    for (const { series } of this.series.all()) {
      series.counts.fill(0);
      series.sum = 0;
    }
  }

  private linesOf({ labels, series }: { readonly labels: Line['labels']; readonly series: Buckets }): readonly Line[] {
    let total = 0;
    const lines = [...this.bounds, '+Inf'].map((le, index): Line => {
      total += series.counts[index] ?? 0;
      return { metricName: `${this.name}_bucket`, labels: { le, ...labels }, value: total };
    });
    return [
      ...lines,
      { metricName: `${this.name}_sum`, labels, value: series.sum },
      { metricName: `${this.name}_count`, labels, value: total },
    ];
  }
}
