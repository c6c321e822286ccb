import { describeController } from '../../../openapi/controller-description.js';
import { count, list, moment, nullable, object, oneOf, ref, text } from '../../../schemas/builders.js';
import { ManagedCarriersController } from './managed-carriers.controller.js';

/** OpenAPI description of the carriers (docs/management-api.md). */
export const managedCarriersOpenapi = describeController(ManagedCarriersController, () => ({
  tag: { name: 'Operator: carriers', description: 'The routes to carriers, as the answering process sees them.' },
  parameters: { route: { description: 'The name of the route.', example: 'orange' } },
  schemas: {
    CarrierLink: object('A connection to a carrier.', {
      name: text('Its name.', { example: 'orange-1' }),
      state: oneOf(['up', 'down'], 'Whether it is connected.'),
      since: moment('Since when.'),
      window: count('How many parts may be unanswered.'),
      in_flight: count('How many are.'),
    }),
    CarrierRoute: object('A route to a carrier.', {
      name: text('Its name.', { example: 'orange' }),
      kind: text('What carries it.', { example: 'smpp' }),
      state: oneOf(
        ['open', 'resting', 'broken', 'down'],
        '`resting`: by an operator, in all processes; `broken`: left alone because it fails; `down`: not connected.',
      ),
      breaker: nullable(
        oneOf(['closed', 'open', 'probing'], 'Its circuit breaker, closed as long as the route works; null: none.'),
      ),
      links: list(ref('CarrierLink')),
      pace: nullable({ type: 'number', description: 'Segments per second; null: no limit.' }),
      submits: count('How many messages the process has submitted since it started.'),
      interruptions: nullable(
        object('Of an SMPP route, what the carrier refused since the process started; null: it is no SMPP route.', {
          bind: count('How often it refused a bind, so that a link bound again.'),
          route: count('How often it refused the whole route, so that the route rested by itself.'),
        }),
      ),
      last_error: nullable(text('The code of the last submit that failed.')),
    }),
    UnreadNumber: object(
      'Texts of phones that were dropped, because the number of the phone cannot be read for sure.',
      {
        route: text('The link or gateway.', { example: 'orange' }),
        count: count('How many, since the process started.'),
        last: text('The last such number, masked.', { example: '700***01' }),
        last_at: moment('When its text came.'),
      },
    ),
    Carriers: object('The routes.', {
      routes: list(ref('CarrierRoute')),
      unread_numbers: list(ref('UnreadNumber')),
    }),
  },
  routes: {
    read: { operationId: 'readCarriers', summary: 'Read the routes to carriers', answer: { schema: 'Carriers' } },
    rest: {
      operationId: 'restCarrier',
      summary: 'Have a route take no new attempts',
      description:
        'In all processes within 5 seconds. Other routes take over; where none is left, messages wait. What is under way goes on.',
      idempotent: true,
      answer: { schema: 'CarrierRoute', examples: { Resting: { state: 'resting' } } },
      errors: ['error.route_not_found'],
    },
    resume: {
      operationId: 'resumeCarrier',
      summary: 'Have a route take attempts again',
      idempotent: true,
      answer: { schema: 'CarrierRoute' },
      errors: ['error.route_not_found'],
    },
  },
}));
