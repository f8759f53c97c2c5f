#!/bin/sh
# Makes the files in secrets/, which compose.yaml and the Secret of kubernetes.yaml need, and says in .env whose they
# are. Prints the token of the caller `crawler`.
set -eu
politely=${POLITELY:-docker run --rm politely-server}
umask 077
mkdir secrets
head -c 32 /dev/urandom | base64 >secrets/permits.key
$politely token prometheus 2>secrets/metrics-token >secrets/tokens
sed -i.old '$!d' secrets/metrics-token # the token is the last line
rm secrets/metrics-token.old
chmod 644 secrets/metrics-token # Prometheus has another user; nobody else may enter secrets/
$politely token crawler >>secrets/tokens
user=$(id -u):$(id -g)
if [ "$(id -u)" = 0 ]; then
  user=1000:1000
  chown "$user" secrets/permits.key secrets/tokens
fi
echo "POLITELY_USER=$user" >>.env
