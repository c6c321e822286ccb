const NAME = 'ref';

/** A callback URL that carries the reference of one SMS, for vendors that give nothing else back. */
export function withReference(url: string, reference: string): string {
  return `${url}?${NAME}=${encodeURIComponent(reference)}`;
}

/** What {@link withReference} wrote, as it came back. */
export function referenceIn(query: URLSearchParams): string | undefined {
  return query.get(NAME) ?? undefined;
}
