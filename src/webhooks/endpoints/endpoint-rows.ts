import type { EventType } from '../../events/event-types.js';
import type { Row } from '../../storage/engine/operation.js';
import { integerOf, optionalInteger, optionalText, textOf } from '../../storage/engine/rows.js';
import type { EndpointOrdering, WebhookSignature } from './endpoint.api.js';
import type { DisabledReason, Endpoint, SecretVersion } from './endpoint.js';

/** The columns that `toEndpoint` reads. */
export const ENDPOINT =
  'id, account_id, url, types, ordering, batch_max, wait_ms, signature, versions, description, status, reason, cursor_at, failing_since, rests_until, created_at, updated_at';

/** Reads an endpoint from its row. The casts are safe, because only this package writes the columns. */
export function toEndpoint(row: Row): Endpoint {
  const types = optionalText(row, 'types');
  return {
    id: textOf(row, 'id'),
    accountId: textOf(row, 'account_id'),
    url: textOf(row, 'url'),
    types: types === undefined ? null : (JSON.parse(types) as readonly EventType[]),
    ordering: textOf(row, 'ordering') as EndpointOrdering,
    batch: { max: integerOf(row, 'batch_max'), waitMs: integerOf(row, 'wait_ms') },
    signature: textOf(row, 'signature') as WebhookSignature,
    versions: toVersions(row),
    description: optionalText(row, 'description') ?? null,
    status: textOf(row, 'status') as Endpoint['status'],
    reason: (optionalText(row, 'reason') as DisabledReason | undefined) ?? null,
    cursor: integerOf(row, 'cursor_at'),
    failingSince: optionalInteger(row, 'failing_since') ?? null,
    restsUntil: optionalInteger(row, 'rests_until') ?? null,
    createdAt: integerOf(row, 'created_at'),
    updatedAt: integerOf(row, 'updated_at'),
  };
}

/** Reads the versions of an endpoint's secret, the newest first. */
function toVersions(row: Row): readonly SecretVersion[] {
  return JSON.parse(textOf(row, 'versions')) as readonly SecretVersion[];
}
