import type { OnApplicationShutdown } from '@nestjs/common';
import type { Histogram, Registry } from 'prom-client';
import { MessagingOptionsError } from '../../common/errors.js';
import { loadPeer } from '../../common/load-peer.js';
import { any, group, isRecord, OptionPlace, type OptionsOf, unread } from '../../common/options.js';
import { SeriesTable } from '../../common/series-table.js';
import {
  type HistogramMetric,
  type Measure,
  type Metric,
  type NewSpan,
  NO_SPAN,
  type Scrape,
  Telemetry,
  type TelemetrySpan,
} from '../../common/telemetry/telemetry.js';
import { ACCOUNTS_OPTION } from '../../common/telemetry/telemetry-options.js';
import type { TelemetryRoute } from '../../core/telemetry-source.js';
import { BucketHistogram } from './bucket-histogram.js';

/** Options of {@link PrometheusTelemetry}. */
export interface PrometheusOptions {
  /** The host's own registry of `prom-client`, which the host serves. Default: one of our own. */
  readonly registry?: Registry | undefined;
  /**
   * Serves the registry at `GET <path>/metrics`. With `secret` (at least 32 random characters), a scraper must send it in
   * `Authorization: Bearer`. With `guard`, a guard of the host decides who may read it. Default: no route.
   */
  readonly route?: TelemetryRoute | undefined;
  /** Accounts whose units are counted under their ids, at most 32. Default: none, all are counted together. */
  readonly accounts?: readonly string[] | undefined;
}

const OPTIONS = {
  registry: any((given, place) => (isRecord(given) ? given : place.refuse('must be a Registry of prom-client'))).or(
    undefined,
  ),
  route: unread,
  accounts: ACCOUNTS_OPTION,
} satisfies OptionsOf<PrometheusOptions>;

type Library = typeof import('prom-client');

/** The value of the option `telemetry` that `PrometheusTelemetry.forRoot` returns. */
export interface PrometheusTelemetrySource {
  readonly useFactory: () => Promise<PrometheusTelemetry>;
  readonly route?: TelemetryRoute;
}

/**
 * Metrics for Prometheus through `prom-client` 15, an optional peer dependency. It traces nothing.
 *
 * @example
 * ```ts
 * MessagingModule.forRoot({ telemetry: PrometheusTelemetry.forRoot({ route: { secret: process.env.METRICS_SECRET } }) });
 * ```
 */
export class PrometheusTelemetry extends Telemetry implements OnApplicationShutdown {
  override readonly traces = false;
  readonly registry: Registry;
  private readonly names: string[] = [];

  /**
   * The value of the option `telemetry`.
   * @throws MessagingOptionsError with a sentence that names the wrong option
   */
  static forRoot(options: PrometheusOptions = {}): PrometheusTelemetrySource {
    const place = new OptionPlace('', (path) => `PrometheusTelemetry: ${path === '' ? 'the options' : path}`);
    const { accounts } = group(OPTIONS).read(options, place);
    const { registry, route } = options;
    return {
      useFactory: async () => {
        const library = await loadPeer('PrometheusTelemetry', 'prom-client', () => import('prom-client'));
        return new PrometheusTelemetry(library, registry ?? new library.Registry(), accounts);
      },
      ...(route && { route }),
    };
  }

  private constructor(
    private readonly library: Library,
    registry: Registry,
    override readonly accounts: readonly string[],
  ) {
    super();
    this.registry = registry;
  }

  override counter(metric: Metric): Measure {
    const series = new SeriesTable(metric.labels, () => ({ total: 0 }));
    new this.library.Counter({
      ...this.declared(metric),
      collect() {
        this.reset();
        for (const { labels, series: each } of series.all()) this.inc({ ...labels }, each.total);
      },
    });
    return (value, first, second, third) => {
      series.of(first, second, third).total += value;
    };
  }

  override histogram(metric: HistogramMetric): Measure {
    const histogram = new BucketHistogram(metric);
    this.declared(metric);
    // The cast is safe: the histogram has everything that a registry reads. It only lacks the methods by which hosts
    // record values.
    this.registry.registerMetric(histogram as unknown as Histogram);
    return histogram.observe;
  }

  override gauge(metric: Metric, read: (observe: Measure) => void): void {
    new this.library.Gauge({
      ...this.declared(metric),
      collect() {
        // Without this, series that no longer exist would be shown for ever. For a gauge without labels `reset` would show 0, so its
        // value is removed instead.
        if (metric.labels.length > 0) this.reset();
        else this.remove({});
        const set: Measure = (value, ...labels) => this.labels(...given(labels)).set(value);
        read(set);
      },
    });
  }

  override span(_: string, __: NewSpan): TelemetrySpan {
    return NO_SPAN;
  }

  override async scrape(): Promise<Scrape> {
    return { contentType: this.registry.contentType, body: await this.registry.metrics() };
  }

  /** Removes our metrics from the registry, which may belong to the host and outlive the application. */
  onApplicationShutdown(): void {
    for (const name of this.names) this.registry.removeSingleMetric(name);
  }

  private declared({ name, help, labels }: Metric) {
    if (this.registry.getSingleMetric(name)) {
      throw new MessagingOptionsError(
        `PrometheusTelemetry: the registry has a metric ${name} already. Give each messaging module in a process a registry of its own.`,
      );
    }
    this.names.push(name);
    return { name, help, labelNames: [...labels], registers: [this.registry] };
  }
}

function given(labels: readonly (string | undefined)[]): string[] {
  return labels.flatMap((label) => label ?? []);
}
