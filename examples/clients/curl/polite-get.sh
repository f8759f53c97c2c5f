#!/usr/bin/env bash
# polite-get.sh URL: prints a page as soon as a Politely server permits it. Needs bash 5 and curl.
# Exit status: 0 for a response (stderr has its status and its URL), 2 for a fault of the server,
# 3 if the URL must not be requested (stderr has the verdict), 4 if no complete response came.
set -u
server=${POLITELY_SERVER:-http://127.0.0.1:7420} token=${POLITELY_TOKEN:-} hold_ms=${POLITELY_HOLD_MS:-1000}
start_within_ms=${POLITELY_START_WITHIN_MS:-500} max_s=${POLITELY_MAX_SECONDS:-60}
url=${1:?write a URL} ticket='' hops=0
folder=$(mktemp -d) && trap 'rm -r "$folder"' EXIT
echo "${token:+authorization: Bearer $token}" >"$folder/token" # a file, since other users see arguments

now_ms() { local t=${EPOCHREALTIME/[.,]/} && echo "${t::-3}"; }
json() { local s=${1//\\/\\\\} && s=${s//\"/\\\"} && printf '"%s"' "${s//[[:cntrl:]]/}"; }
call() { # PATH BODY: prints the answer of the server. A call that was not delivered is sent again.
  : >"$folder/answer"
  curl -qsS --noproxy '*' --fail-with-body -m $((hold_ms / 1000 + 30)) --retry 3 --retry-all-errors --retry-delay 1 \
    -H 'content-type: application/json' -H "@$folder/token" -o "$folder/answer" --data-binary "$2" "$server/v1/$1" \
    2>"$folder/errors" || { cat "$folder/errors" "$folder/answer" >&2 && exit 2; }
  cat "$folder/answer"
}
field() { # NAME: prints the first field of this name in $answer
  local re="\"$1\": *(\"(([^\"\\\\]|\\\\.)*)\"|([0-9]+))"
  [[ $answer =~ $re ]] || return 0
  local s=${BASH_REMATCH[2]//\\\"/\"}${BASH_REMATCH[4]} && printf '%s' "${s//\\\\/\\}"
}
report() { call reports "{\"reports\":[{\"permit\":$(json "$permit"),$1}]}" >"$folder/report"; }

while ((hops <= 10)); do
  called_at=$(now_ms)
  request="{\"url\":$(json "$url")${ticket:+,\"ticket\":$(json "$ticket")}}"
  options="\"hold_ms\":$hold_ms,\"start_within_ms\":$start_within_ms,\"lease_ms\":$((max_s * 1000 + 1000))"
  answer=$(call permits "{$options,\"requests\":[$request]}") || exit 2
  state=$(field state) wait_ms=$(field wait_ms) permit=$(field permit) next=$(field ticket)
  case $state in
    refused) echo "$answer" >&2 && exit 3 ;;
    go) ;;
    unknown) ticket='' && continue ;;
    *) # wait, full
      [[ -n $wait_ms ]] || { echo "$server/v1/permits answered $answer" >&2 && exit 2; }
      ticket=${next:-$ticket}
      sleep "$(printf '%d.%03d' $((wait_ms / 1000)) $((wait_ms % 1000)))" && continue ;;
  esac
  ticket='' agent=$(field user_agent) sent_after_ms=$(($(now_ms) - called_at - $(field held_ms)))
  if ((sent_after_ms > $(field start_within_ms))); then
    ((start_within_ms = start_within_ms < 500 ? 2 * start_within_ms : 1000)) # of the server
    report '"outcome":"not-sent"' && continue
  fi
  format='%{http_code} %{time_pretransfer} %{time_total} %{redirect_url}'
  : >"$folder/head" >"$folder/page" # of the hop before
  line=$(curl -qsSg --proto '=http,https' -m "$max_s" -A "$agent" -D "$folder/head" -o "$folder/page" \
    -w "$format" "$url")
  result=$? && read -r status pretransfer total redirect <<<"$line"
  pretransfer=${pretransfer/[.,]/} total=${total/[.,]/} fields='' limits=''
  fields="\"sent_after_ms\":$((sent_after_ms + 10#$pretransfer / 1000)),\"took_ms\":$((10#$total / 1000))"
  while IFS=$': \r' read -r name value; do
    case ${name,,} in
      retry-after) fields+=",\"retry_after\":$(json "${value::64}")" ;;
      age | retry-after-ms | *ratelimit* | *rate-limit*) limits+=",$(json "${name,,}"):$(json "${value::1000}")" ;;
    esac
  done <"$folder/head"
  ((10#$status)) && fields+=",\"status\":$status" || fields+=',"outcome":"failed"'
  report "$fields,\"ratelimit\":{${limits:1}}"
  ((result == 0)) || exit 4
  [[ -n $redirect ]] && url=$redirect && ((++hops)) && continue
  echo "$status $url" >&2 && cat "$folder/page" && exit
done
echo "more than 10 redirects: $url" >&2 && exit 4
