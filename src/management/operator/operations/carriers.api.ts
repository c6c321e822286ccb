import { count, list, moment, nullable, object, oneOf, ref, text } from '../../../schemas/builders.js';
import { schemaOf, type TypeOf } from '../../../schemas/schema.js';
import { BREAKER_STATES, LINK_STATES } from '../../../sms/carrier-state.api.js';

/** A connection of the answering process to a carrier. */
export const CarrierLinkView = object('A connection to a carrier.', {
  name: text('Its name.', { example: 'orange-1' }),
  state: oneOf(LINK_STATES, 'Whether it is connected.'),
  since: moment('Since when it has this state.'),
  window: count('How many parts may be unanswered.'),
  in_flight: count('How many parts are unanswered.'),
});
export interface CarrierLinkView extends TypeOf<typeof CarrierLinkView> {}

/** A route of the answering process to a carrier. */
export const CarrierRouteView = object('A route to a carrier.', {
  name: text('Its name.', { example: 'orange' }),
  kind: text('The kind of its transport.', { example: 'smpp' }),
  state: oneOf(
    ['open', 'resting', 'broken', 'down'],
    '`resting`: an operator rests it, in all processes. `broken`: it is not used, because it fails. `down`: it is not connected.',
  ),
  breaker: nullable(
    oneOf(BREAKER_STATES, 'Its circuit breaker, which is closed as long as the route works. Null: it has none.'),
  ),
  links: list(ref<CarrierLinkView>({ CarrierLink: CarrierLinkView })),
  pace: nullable(schemaOf<number>({ type: 'number', description: 'Segments per second. Null: no limit.' })),
  submits: count('How many messages the process has submitted since it started.'),
  interruptions: nullable(
    object(
      'How often the carrier of an SMPP route has refused since the process started. Null: it is not an SMPP route.',
      {
        bind: count('How often the carrier refused a bind, so that a link bound again.'),
        route: count('How often the carrier refused the whole route, so that the route rested by itself.'),
      },
    ),
  ),
  last_error: nullable(text('The code of the last failed submit.')),
});
export interface CarrierRouteView extends TypeOf<typeof CarrierRouteView> {}

/** The texts of phones of one route that were dropped since the answering process started, because their number cannot be read for sure. */
export const UnreadNumberView = object(
  'Texts of phones that were dropped, because the number of the phone cannot be read for sure.',
  {
    route: text('The link or gateway.', { example: 'orange' }),
    count: count('How many texts, since the process started.'),
    last: text('The last such number, masked.', { example: '700***01' }),
    last_at: moment('When the text of this number came.'),
  },
);
export interface UnreadNumberView extends TypeOf<typeof UnreadNumberView> {}

/** The routes to carriers. */
export const CarriersView = object('The routes.', {
  routes: list(ref<CarrierRouteView>({ CarrierRoute: CarrierRouteView })),
  unread_numbers: list(ref<UnreadNumberView>({ UnreadNumber: UnreadNumberView })),
});
export interface CarriersView extends TypeOf<typeof CarriersView> {}
