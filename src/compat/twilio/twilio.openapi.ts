import { describeController } from '../../openapi/controller-description.js';
import { TwilioController } from './twilio.controller.js';

const OBJECT = { 'application/json': { schema: { type: 'object' } } } as const;
const FORM = {
  required: true,
  content: { 'application/x-www-form-urlencoded': { schema: { type: 'object' } } },
} as const;

/** OpenAPI description of the door in Twilio's shape. Its own documentation has the fields. */
export const twilioOpenapi = describeController(TwilioController, () => ({
  tag: { name: 'Twilio', description: 'Routes in the shape of Twilio, for software that speaks to Twilio.' },
  parameters: {
    accountSid: { description: 'The account, `AC` and its id.', example: 'AC0190a6f0c0de7abc8def0123456789ab' },
    file: {
      description: 'The message, `SM` and its id, and `.json`.',
      example: 'SM0190a6f0c0de7abc8def0123456789ab.json',
    },
    serviceSid: { description: 'The name of the service in the codes.', example: 'Boutique' },
  },
  routes: {
    create: {
      operationId: 'twilioSendMessage',
      summary: 'Send an SMS, in Twilio’s shape',
      body: FORM,
      answer: { description: 'The message.', content: OBJECT },
    },
    list: {
      operationId: 'twilioListMessages',
      summary: 'List SMS, in Twilio’s shape',
      answer: { description: 'A page of messages.', content: OBJECT },
    },
    fetch: {
      operationId: 'twilioGetMessage',
      summary: 'An SMS, in Twilio’s shape',
      answer: { description: 'The message.', content: OBJECT },
    },
    change: {
      operationId: 'twilioChangeMessage',
      summary: 'Cancel an SMS, in Twilio’s shape',
      body: FORM,
      answer: { description: 'The message.', content: OBJECT },
    },
    startVerification: {
      operationId: 'twilioSendVerification',
      summary: 'Send a code, in Twilio’s shape',
      body: FORM,
      answer: { description: 'The verification.', content: OBJECT },
    },
    checkVerification: {
      operationId: 'twilioCheckVerification',
      summary: 'Verify a code, in Twilio’s shape',
      body: FORM,
      answer: { description: 'The verification.', content: OBJECT },
    },
  },
}));
