import { describeController } from '../openapi/controller-description.js';
import { EXAMPLE_NUMBER } from '../openapi/examples.js';
import { STORAGE_UNAVAILABLE } from '../openapi/gate-errors.js';
import { json, phoneNumber, ref } from '../openapi/schemas.js';
import { HOST_REFUSED } from './sandbox.openapi.js';
import { SandboxScanController } from './sandbox-scan.controller.js';

/** OpenAPI description of the scan route (contract.md section 8). */
export const sandboxScanOpenapi = describeController(SandboxScanController, () => ({
  tag: { name: 'Sandbox' },
  schemas: {
    Scan: {
      type: 'object',
      description: 'What the phone’s camera sees.',
      properties: { qr: { type: 'string', description: 'The string of the `qr` event.' } },
      required: ['qr'],
    },
  },
  routes: {
    scan: {
      operationId: 'scanWithSandboxPhone',
      summary: 'Scan a code with a sandbox phone',
      description: 'Links the number to the session that shows the code, as scanning with a phone would.',
      parameters: [
        {
          name: 'number',
          in: 'path',
          required: true,
          description: 'The phone’s number.',
          schema: phoneNumber('The phone’s number.'),
          example: EXAMPLE_NUMBER,
        },
      ],
      body: {
        required: true,
        content: json(ref('Scan'), { code: { value: { qr: 'sandbox:msgapp:Qm9ucyBiYWlzZXJz' } } }),
      },
      answer: { description: 'The number is linked.' },
      errors: [
        { code: 'error.invalid_number', values: { number: '+22670000000' } },
        { code: 'error.field_missing', values: { field: 'qr' } },
        { code: 'error.field_not_string', values: { field: 'qr' } },
        { code: 'error.qr_not_found' },
        HOST_REFUSED,
        STORAGE_UNAVAILABLE,
      ],
    },
  },
}));
