import { UserTokenVerifier, type VerifiedUser } from '../../../src/accounts/users/user-token-verifier.js';

/** Accepts every token of `asUser`, also with a role of the operator. */
export class TestUsers extends UserTokenVerifier {
  override readonly operators = true;

  override async verify(token: string): Promise<VerifiedUser | undefined> {
    const [, claims = ''] = token.split('.');
    return JSON.parse(Buffer.from(claims, 'base64url').toString());
  }
}

/** The `Authorization` header of a user. */
export function asUser(user: VerifiedUser): { readonly authorization: string } {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return { authorization: `Bearer ${part({ alg: 'none' })}.${part(user)}.e30` };
}
