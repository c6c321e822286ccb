/** The series of a metric, by the values of at most three labels. Finding one allocates nothing. */
export class SeriesTable<S> {
  private readonly table = new Map<string, Map<string, Map<string, S>>>();
  private readonly found: { readonly labels: Readonly<Record<string, string>>; readonly series: S }[] = [];

  /**
   * @param labels the names of the labels
   * @param make makes a series when it is first used
   */
  constructor(
    private readonly labels: readonly string[],
    private readonly make: (labels: Readonly<Record<string, string>>) => S,
  ) {}

  of(first = '', second = '', third = ''): S {
    return this.table.get(first)?.get(second)?.get(third) ?? this.add(first, second, third);
  }

  /** All series so far, with their labels. */
  all(): readonly { readonly labels: Readonly<Record<string, string>>; readonly series: S }[] {
    return this.found;
  }

  private add(...values: readonly [string, string, string]): S {
    const [first, second, third] = values;
    const labels = Object.fromEntries(this.labels.map((name, index) => [name, values[index] ?? '']));
    const series = this.make(labels);
    const bySecond = this.table.get(first) ?? new Map<string, Map<string, S>>();
    const byThird = bySecond.get(second) ?? new Map<string, S>();
    this.table.set(first, bySecond.set(second, byThird.set(third, series)));
    this.found.push({ labels, series });
    return series;
  }
}
