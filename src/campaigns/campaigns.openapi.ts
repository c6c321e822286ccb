import { MAX_VARIABLE_VALUE } from '../common/text/personal-text.js';
import { describeController, type ErrorDescription, fieldsOf } from '../openapi/controller-description.js';
import { invalid } from '../openapi/errors.js';
import { PAGE } from '../openapi/listings.js';
import { EXAMPLE, metadata, oneOf, phoneNumber, text } from '../schemas/builders.js';
import {
  CAMPAIGN_FIELDS,
  CampaignPage,
  CampaignQuote,
  CampaignRecipient,
  CampaignRecipientPage,
  CampaignRemoved,
  CampaignTest,
  CampaignView,
  EXAMPLE_CAMPAIGN,
  ImportFault,
  ImportResult,
  MAX_CAMPAIGN_RECIPIENTS,
  MAX_IMPORT_ERRORS,
  MAX_PER_MINUTE,
  RECIPIENT_STATUSES,
} from './campaign.api.js';
import { CampaignSettings } from './campaign-options.js';
import { CampaignsController } from './campaigns.controller.js';
import {
  CreateCampaignBody,
  ImportRecipientsQuery,
  ListCampaignRecipientsQuery,
  ListCampaignsQuery,
  TestCampaignBody,
} from './campaigns.dto.js';

const VARS = {
  type: 'object',
  additionalProperties: { type: 'string', maxLength: MAX_VARIABLE_VALUE },
  description: 'The values of the variables by their names. Values that the text does not use are ignored.',
  example: { name: 'Awa' },
} as const;

const TO = {
  type: 'array',
  minItems: 1,
  description: 'The recipients. A wrong entry is left out, and the answer names it.',
  items: {
    type: 'object',
    required: ['number'],
    properties: { number: phoneNumber('The recipient.'), vars: VARS },
  },
  example: [{ number: EXAMPLE.number, vars: { name: 'Awa' } }],
} as const;

const stateOf = (status: string): ErrorDescription => ({ code: 'error.campaign_state', values: { status } });
const line = (...codes: readonly ('error.csv_encoding' | 'error.csv_malformed' | 'error.csv_cut')[]) =>
  codes.map((code): ErrorDescription => ({ code, values: { line: 17 } }));

/** OpenAPI description of campaigns (docs/campaigns.md). */
export const campaignsOpenapi = describeController(CampaignsController, (host) => {
  const max = host.get(CampaignSettings).maxRecipients;
  return {
    tag: {
      name: 'Campaigns',
      description: `A text for up to ${MAX_CAMPAIGN_RECIPIENTS} recipients. A campaign is a draft until it is started. Then its recipients become SMS, each exactly once, even if the campaign is paused and resumed, or if a server crashes.`,
    },
    parameters: { id: { description: 'The campaign.', example: EXAMPLE_CAMPAIGN } },
    schemas: {
      Campaign: CampaignView,
      CampaignPage,
      CampaignQuote,
      CampaignTest,
      CampaignRecipient,
      CampaignRecipientPage,
      CampaignRemoved,
      ImportFault,
      ImportResult,
    },
    routes: {
      create: {
        operationId: 'createCampaign',
        summary: 'Make a campaign',
        description:
          'The campaign is a draft without recipients. Its fields cannot be changed: remove the draft instead.',
        body: {
          name: 'CreateCampaign',
          description: 'The campaign to make.',
          ...fieldsOf(CreateCampaignBody, { ...CAMPAIGN_FIELDS, metadata }),
          examples: {
            'With a variable': {
              name: 'Soldes',
              signature: 'INFOS',
              content: 'Bonjour {name}, nos soldes commencent demain.',
            },
          },
        },
        idempotent: true,
        answer: { schema: 'Campaign', examples: { 'A draft': { status: 'draft', started_at: null } } },
        errors: [
          ...invalid('name', 'send_at', 'national'),
          { code: 'error.field_not_integer', values: { field: 'per_minute', min: 1, max: MAX_PER_MINUTE } },
          { code: 'error.field_missing', values: { field: 'content' } },
          { code: 'error.fields_exclusive', values: { field: 'content', other: 'template' } },
          'error.template_not_found',
          'error.empty_message',
          { code: 'error.stray_brace', values: { position: 9 } },
          { code: 'error.too_many_segments', values: { segments: 300, max: 255 } },
          'error.unsendable_character',
          'error.signature_refused',
          'error.account_not_found',
        ],
      },
      list: {
        operationId: 'listCampaigns',
        summary: 'List campaigns, newest first',
        description: 'The counts may be some seconds old.',
        query: fieldsOf(ListCampaignsQuery, PAGE),
        answer: { schema: 'CampaignPage' },
        errors: ['error.invalid_cursor'],
      },
      get: {
        operationId: 'getCampaign',
        summary: 'Look up a campaign',
        description:
          'If more than 20 000 SMS may still change their state, the counts of the others are some seconds old.',
        answer: { schema: 'Campaign' },
        errors: ['error.campaign_not_found'],
      },
      remove: {
        operationId: 'deleteCampaign',
        summary: 'Remove a draft',
        answer: { schema: 'CampaignRemoved' },
        errors: [stateOf('running'), 'error.campaign_importing', 'error.campaign_not_found'],
      },
      import: {
        operationId: 'importCampaignRecipients',
        summary: 'Add recipients to a draft',
        description: `The body is a list in JSON, or a file (\`text/csv\`, RFC 4180, UTF-8): its first row names the columns, which are separated by commas, semicolons or tabs. The file is read as a stream, and is imported completely or not at all. Wrong rows and repeated phones are left out; the answer has the first ${MAX_IMPORT_ERRORS} wrong rows. A cell is a text: formulas are not evaluated.`,
        query: fieldsOf(ImportRecipientsQuery, {
          number: text('The name of the column with the numbers.', { default: 'number', example: 'mobile' }),
        }),
        body: {
          required: true,
          content: {
            'application/json': {
              schema: { type: 'object', required: ['to'], properties: { to: TO } },
              examples: { 'One recipient': { value: { to: [{ number: EXAMPLE.number, vars: { name: 'Awa' } }] } } },
            },
            'text/csv': {
              schema: { type: 'string' },
              examples: { 'Two recipients': { value: 'number;name\n22670000000;Awa\n22670000001;Issa\n' } },
            },
          },
        },
        answer: { schema: 'ImportResult' },
        errors: [
          { code: 'error.recipients_not_list', values: { field: 'to' } },
          ...line('error.csv_encoding', 'error.csv_malformed', 'error.csv_cut'),
          'error.csv_empty',
          { code: 'error.csv_column_twice', values: { column: 'name' } },
          { code: 'error.csv_no_column', values: { column: 'number' } },
          { code: 'error.campaign_too_large', values: { max } },
          stateOf('running'),
          'error.campaign_importing',
          'error.campaign_not_found',
        ],
      },
      recipients: {
        operationId: 'listCampaignRecipients',
        summary: 'List recipients, first those that have become an SMS',
        description:
          'With `status`, a page may have fewer items than `limit` or none, even if there are more. With `Accept: text/csv` the answer is a file of all of them.',
        query: fieldsOf(ListCampaignRecipientsQuery, {
          ...PAGE,
          status: oneOf(RECIPIENT_STATUSES, 'Only recipients in this state.'),
        }),
        answer: { schema: 'CampaignRecipientPage' },
        errors: ['error.invalid_cursor', ...invalid('status'), 'error.campaign_not_found'],
      },
      quote: {
        operationId: 'quoteCampaign',
        summary: 'Price a campaign',
        description: 'The price of the recipients that have not become an SMS. It charges nothing.',
        answer: { schema: 'CampaignQuote' },
        errors: ['error.campaign_not_found'],
      },
      test: {
        operationId: 'testCampaign',
        summary: 'Send the text of a campaign to one number',
        description: 'The SMS is charged. The number need not be a recipient.',
        body: {
          name: 'TestCampaign',
          description: 'The recipient of the test.',
          ...fieldsOf(TestCampaignBody, { number: phoneNumber('The recipient of the test.'), vars: VARS }),
          examples: { 'To a colleague': { number: EXAMPLE.number, vars: { name: 'Awa' } } },
        },
        idempotent: true,
        answer: { schema: 'CampaignTest' },
        errors: [
          { code: 'error.variable_missing', values: { number: EXAMPLE.number, variable: 'name' } },
          'error.signature_refused',
          'error.insufficient_balance',
          'error.campaign_not_found',
        ],
      },
      start: {
        operationId: 'startCampaign',
        summary: 'Start a campaign',
        description:
          'It starts at once, or at its `send_at`. It is charged as its recipients become SMS. If the balance does not pay the next one, it pauses.',
        idempotent: true,
        answer: { schema: 'Campaign', examples: { running: { status: 'running' } } },
        errors: [
          stateOf('completed'),
          'error.campaign_empty',
          'error.campaign_importing',
          'error.signature_refused',
          'error.campaign_not_found',
        ],
      },
      pause: {
        operationId: 'pauseCampaign',
        summary: 'Pause a campaign',
        description: 'SMS that it has become are still handed over: at most some 10 000.',
        idempotent: true,
        answer: { schema: 'Campaign', examples: { paused: { status: 'paused', pause_reason: 'user' } } },
        errors: [stateOf('completed'), 'error.campaign_not_found'],
      },
      resume: {
        operationId: 'resumeCampaign',
        summary: 'Resume a campaign',
        idempotent: true,
        answer: { schema: 'Campaign', examples: { running: { status: 'running' } } },
        errors: [stateOf('completed'), 'error.campaign_not_found'],
      },
      cancel: {
        operationId: 'cancelCampaign',
        summary: 'Cancel a campaign',
        description:
          'Recipients that have not become an SMS get none. SMS that still wait for a carrier are canceled and refunded; those that a worker has claimed are not. A completed campaign cannot be canceled. A canceled campaign cannot be resumed.',
        idempotent: true,
        answer: { schema: 'Campaign', examples: { canceled: { status: 'canceled' } } },
        errors: [stateOf('completed'), 'error.campaign_not_found'],
      },
    },
  };
});
