/** All hosts that probably have one owner. They share concurrency limits. */
export interface Site {
  /**
   * The registrable domain, the IPv4 address, or the block of the IPv6 address. For a tenant of a
   * platform, its own name there.
   */
  readonly name: string
  /**
   * The registrable domain of the platform if the site is a tenant: `github.io`, or `amazonaws.com`
   * for `a.s3.amazonaws.com`.
   */
  readonly platform: string | undefined
}
