import { describeController } from '../../openapi/controller-description.js';
import { NOT_ADMITTED } from '../schemas.js';
import { AttentionView, OverviewView } from './overview.api.js';
import { OverviewController } from './overview.controller.js';
import { MAX_COUNTED } from './overview-service.js';

/** OpenAPI description of the overview of an account. */
export const overviewOpenapi = describeController(OverviewController, () => ({
  tag: { name: 'Overview', description: 'The overview of an account, which its people look at first.' },
  schemas: {
    Attention: AttentionView,
    Overview: OverviewView,
  },
  errors: NOT_ADMITTED,
  routes: {
    overview: {
      operationId: 'getOverview',
      summary: 'Read the overview of an account',
      description: `A client may ask every ten seconds. At most the newest ${MAX_COUNTED} recipients of each channel and kind are counted, and an answer is used for five seconds.`,
      answer: { schema: 'Overview' },
      errors: ['error.account_not_found'],
    },
  },
}));
