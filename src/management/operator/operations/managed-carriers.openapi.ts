import { describeController } from '../../../openapi/controller-description.js';
import { CarrierLinkView, CarrierRouteView, CarriersView, UnreadNumberView } from './carriers.api.js';
import { ManagedCarriersController } from './managed-carriers.controller.js';

/** OpenAPI description of the carriers (docs/management-api.md). */
export const managedCarriersOpenapi = describeController(ManagedCarriersController, () => ({
  tag: { name: 'Operator: carriers', description: 'The routes of the answering process to carriers.' },
  parameters: { route: { description: 'The name of the route.', example: 'orange' } },
  schemas: {
    CarrierLink: CarrierLinkView,
    CarrierRoute: CarrierRouteView,
    UnreadNumber: UnreadNumberView,
    Carriers: CarriersView,
  },
  routes: {
    read: { operationId: 'readCarriers', summary: 'Read the routes to carriers', answer: { schema: 'Carriers' } },
    rest: {
      operationId: 'restCarrier',
      summary: 'Rest a route',
      description:
        'The route takes no new attempts, in all processes within 5 seconds. Other routes take over. If none is left, messages wait. Running attempts go on.',
      idempotent: true,
      answer: { schema: 'CarrierRoute', examples: { Resting: { state: 'resting' } } },
      errors: ['error.route_not_found'],
    },
    resume: {
      operationId: 'resumeCarrier',
      summary: 'Use a route again',
      idempotent: true,
      answer: { schema: 'CarrierRoute' },
      errors: ['error.route_not_found'],
    },
  },
}));
