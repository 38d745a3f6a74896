#!/bin/sh
# Makes the certificates of the tests: a root, a server at 127.0.0.1 and localhost, a client. They guard nothing.
set -e
new() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key"; }
new root
openssl req -x509 -new -key root.key -days 36500 -subj "/CN=quorate test root" -out root.pem \
    -addext "basicConstraints=critical,CA:TRUE" -addext "keyUsage=critical,keyCertSign"
for name in server client; do
    new $name
    openssl req -new -key $name.key -subj "/CN=quorate test $name" -out $name.csr
    printf 'subjectAltName=IP:127.0.0.1,DNS:localhost\nbasicConstraints=CA:FALSE\n' > $name.ext
    openssl x509 -req -in $name.csr -CA root.pem -CAkey root.key -CAcreateserial -days 36500 -extfile $name.ext -out $name.pem
    rm $name.csr $name.ext
done
rm -f root.key root.srl
