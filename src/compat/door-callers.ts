import type { IncomingHttpHeaders } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Admission } from '../accounts/admission.js';
import { Authenticator, type Caller } from '../accounts/keys/authenticator.js';
import { type PermissionName, permissionOf } from '../accounts/keys/permissions.js';
import { MessagingError } from '../common/errors.js';

/** A user name and a password (RFC 7617). */
export interface BasicCredentials {
  readonly user: string;
  readonly password: string;
}

/** A caller of a door. */
export interface DoorCaller {
  readonly caller: Caller;
  /** Whether the key may be used only from some addresses. */
  readonly isBound: boolean;
}

/** Authenticates callers whose key is not in a header of ours. */
@Injectable()
export class DoorCallers {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly admission: Admission,
  ) {}

  /**
   * The caller of a request that needs a permission.
   * @param ip the client's address according to the framework
   * @throws MessagingError `error.unauthorized`, and the other reasons for which a key is refused
   */
  async byKey(key: string, permission: PermissionName, ip: string | undefined): Promise<DoorCaller> {
    const answer = await this.authenticator.authenticate({ 'x-api-key': key });
    const admitted = await this.admission.admit(answer, permissionOf(permission), { target: '', ip });
    if (admitted.kind === 'refused') throw new MessagingError(admitted.code, {}, admitted.retryAfter);
    return { caller: admitted.caller, isBound: admitted.known?.addresses !== undefined };
  }

  /**
   * The caller whose key is the password of Basic authentication.
   * @throws MessagingError as `byKey`
   */
  async byBasic(
    { authorization }: Pick<IncomingHttpHeaders, 'authorization'>,
    permission: PermissionName,
    ip: string | undefined,
  ): Promise<DoorCaller & BasicCredentials> {
    const given = credentialsIn(authorization);
    if (given === undefined) throw new MessagingError('error.unauthorized');
    return { ...(await this.byKey(given.password, permission, ip)), ...given };
  }
}

/** The credentials of an `Authorization: Basic …` header; undefined for anything else. */
function credentialsIn(authorization: string | undefined): BasicCredentials | undefined {
  const [, encoded] = /^basic +([A-Za-z0-9+/]+=*)$/i.exec(authorization ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const [, user, password] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  return user === undefined || password === undefined ? undefined : { user, password };
}
