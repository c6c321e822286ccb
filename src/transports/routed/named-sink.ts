import type { SmsSink } from '../../sms/sms-transport.js';

/**
 * The name under which a transport's receipts are looked for: what it calls by its own name is the route's, so that two
 * transports of one kind do not mix up their ids; other names it has for its links stay as they are.
 */
export type RouteNaming = (name: string | undefined) => string;

export function namingFor(route: string, transport: { readonly name: string }): RouteNaming {
  return (name) => (name === undefined || name === transport.name ? route : name);
}

/** The sink as one route's transport sees it. */
export function namedSink(sink: SmsSink, naming: RouteNaming): SmsSink {
  const named = <T extends { readonly route: string }>(each: T): T => ({ ...each, route: naming(each.route) });
  return {
    report: (reports) => sink.report(reports),
    receipts: (receipts) => sink.receipts(receipts.map(named)),
    inbound: (messages) => sink.inbound(messages.map(named)),
  };
}
