import { describeController, fieldsOf } from '../../openapi/controller-description.js';
import { MeView, StandstillView } from './me.api.js';
import { MeController } from './me.controller.js';
import { MeQuery } from './me.dto.js';

/** OpenAPI description of the route that says who the caller is (docs/management-api.md). */
export const meOpenapi = describeController(MeController, () => ({
  tag: { name: 'Me', description: 'The caller, with its rights and the mounted capabilities.' },
  schemas: { Me: MeView, Standstill: StandstillView },
  errors: ['error.role_missing'],
  routes: {
    me: {
      operationId: 'getMe',
      summary: 'See who is calling',
      query: fieldsOf(MeQuery, {
        account: 'The account that an operator looks at. It has no effect for other callers.',
      }),
      answer: { schema: 'Me' },
      errors: ['error.account_not_found'],
    },
  },
}));
