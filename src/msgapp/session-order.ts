/** What is wanted of a session that is to end in this process. */
export type Order =
  /** Another process may have it. */
  | { readonly kind: 'hand-over'; readonly reason: string }
  /** Another process may have it already: nothing may be written any more. */
  | { readonly kind: 'let-go' }
  | { readonly kind: 'end'; readonly status: 'expired' | 'logged_out'; readonly reason: string };
