import { describeController } from '../../openapi/controller-description.js';
import { NOT_ADMITTED } from '../schemas.js';
import { AttentionView, OverviewView } from './overview.api.js';
import { OverviewController } from './overview.controller.js';
import { MAX_COUNTED } from './overview-service.js';

/** OpenAPI description of what an account's people look at first. */
export const overviewOpenapi = describeController(OverviewController, () => ({
  tag: { name: 'Overview', description: 'What the people of an account look at first.' },
  schemas: {
    Attention: AttentionView,
    Overview: OverviewView,
  },
  errors: NOT_ADMITTED,
  routes: {
    overview: {
      operationId: 'getOverview',
      summary: 'See how an account stands',
      description: `May be asked for every ten seconds: at most the newest ${MAX_COUNTED} recipients of each channel and kind are counted, and an answer counts for five seconds.`,
      answer: { schema: 'Overview' },
      errors: ['error.account_not_found'],
    },
  },
}));
